//! A proposal as lines of text: where it stands, what it changes, and the figures of its tests.

use agent::{ProposalView, Test};

pub(super) fn lines(proposal: &ProposalView) -> Vec<String> {
    let name = match proposal.proposal {
        Some(number) => format!("proposal {number}"),
        None => "a proposal".to_owned(),
    };
    let events: Vec<String> = proposal.events.iter().map(ToString::to_string).collect();
    let mut lines = vec![format!(
        "{name} by {}, {}: {} [{}]",
        proposal.by,
        proposal.standing.name(),
        proposal.says,
        events.join(", ")
    )];
    lines.push(format!(
        "  {} {}: {}",
        proposal.target, proposal.change, proposal.justification
    ));
    if !proposal.evidence.is_empty() {
        let evidence: Vec<String> = proposal.evidence.iter().map(ToString::to_string).collect();
        lines.push(format!("  evidence: events {}", evidence.join(", ")));
    }
    lines.extend(proposal.lines.iter().map(|it| format!("  changes {it}")));
    lines.extend(proposal.trial.iter().map(|it| figures("test", it)));
    lines.extend(proposal.held_out.iter().map(|it| figures("held out", it)));
    lines
}

fn figures(name: &str, test: &Test) -> String {
    let it = &test.figures;
    let mut line = format!(
        "  {name}: {} episodes: {} better, {} worse, {} the same, {} unknown; mean score {:.3} -> {:.3}",
        it.episodes, it.better, it.worse, it.same, it.unknown, it.before, it.after
    );
    for (why, count) in &it.reasons {
        line.push_str(&format!("; {count}: {why}"));
    }
    line
}
