//! Replies of `/api/memory` as lines of text.

use workspace::api::reply::{AuditCounts, Forgotten, Imported, Recalled, RecordHit, Stored};

/// How many signs of a hit are shown.
const SIGNS: usize = 4;

/// The outcome for a record, and a line for each record that it contradicts.
pub(super) fn stored(reply: &Stored) -> Vec<String> {
    let (layer, id) = (reply.layer.name(), reply.node_id.as_str());
    let mut lines = vec![format!("{} as {layer}: {id}", reply.outcome)];
    let contradicted = reply.contradicts.iter();
    lines.extend(
        contradicted.map(|it| format!("this contradicts {}: {}", it.id.as_str(), it.content)),
    );
    lines
}

/// How many records are gone.
pub(super) fn forgotten(reply: &Forgotten) -> String {
    match reply.forgotten {
        0 => "nothing is forgotten: there is no such record".to_owned(),
        1 => "1 record is forgotten".to_owned(),
        many => format!(
            "{many} records are forgotten: the one named, and those that rested on it alone"
        ),
    }
}

/// Each hit in a few lines: its content, where it comes from, and by which signs it was found.
pub(super) fn recalled(reply: &Recalled) -> Vec<String> {
    if reply.sources.is_empty() {
        return vec!["nothing is known about that".to_owned()];
    }
    reply.sources.iter().flat_map(hit).collect()
}

fn hit(hit: &RecordHit) -> Vec<String> {
    let record = &hit.record;
    let speaker = record.speaker.as_deref();
    let speaker = speaker.map(|it| format!("{it}: ")).unwrap_or_default();
    // Further lines of a content are indented: none of them looks like another hit.
    let content = record.content.replace('\n', "\n      ");
    let mut lines = vec![format!("{:.2}  {speaker}{content}", hit.relevance)];
    let mut about = vec![
        record.layer.name().to_owned(),
        record.id.as_str().to_owned(),
    ];
    about.extend(record.occurred_at.clone());
    let source = record.source.as_ref();
    about.extend(source.map(|source| format!("source {source}")));
    let confidence = hit.confidence;
    about.extend(confidence.map(|confidence| format!("confidence {confidence:.2}")));
    if let Some(against) = &record.contradicted_by {
        about.push(format!("in doubt because of {}", against.id.as_str()));
    }
    lines.push(format!("      {}", about.join(", ")));
    if let Some(reason) = &record.reason {
        let context = reason.context.as_deref().unwrap_or_default();
        let why = reason.why.as_deref().unwrap_or_default();
        lines.push(format!("      answers {context:?}, kept because {why}"));
    }
    let signs = hit.explanation.iter().take(SIGNS);
    let signs: Vec<String> = signs
        .map(|it| format!("{} {:+.2}", it.sign, it.part))
        .collect();
    lines.push(format!("      found by {}", signs.join(", ")));
    lines
}

/// One line for each count.
pub(super) fn audit(reply: &AuditCounts) -> Vec<String> {
    let clean = if reply.clean { "clean" } else { "NOT clean" };
    let mut lines = vec![format!("{}: {clean}", reply.agent)];
    let line = |(name, count): (&str, usize)| format!("{name:16} {count}");
    let counts = [
        ("contradictions", reply.contradictions),
        ("duplicates", reply.duplicates),
        ("echoes", reply.echoes),
        ("embedded", reply.embedded),
        ("forgotten", reply.forgotten),
    ];
    lines.extend(counts.map(line));
    let layers = reply.layers.iter();
    lines.extend(layers.map(|(layer, count)| format!("  {layer:14} {count}")));
    let counts = [
        ("never read", reply.never_read),
        ("recall loops", reply.recall_loops),
        ("records", reply.records),
        ("uncertain", reply.uncertain),
        ("unsettled", reply.unsettled),
        ("without reason", reply.without_reason),
    ];
    lines.extend(counts.map(line));
    lines
}

pub(super) fn imported(reply: &Imported) -> String {
    let mut text = format!("{} imported, {} known already", reply.imported, reply.known);
    if reply.discarded > 0 {
        text.push_str(&format!(
            ", {} discarded by the law of the agent",
            reply.discarded
        ));
    }
    text
}
