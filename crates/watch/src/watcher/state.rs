//! The life of alerts: a match opens one or belongs to one that is live; time resolves it; messages are limited.

use super::{ALERTS, HOUR, HOURLY, QUIET, SUPPRESSED, State};
use crate::alert::{Alert, AlertState, Change, DigestLine, Notice};
use crate::enrich::text;
use crate::fact::{Fact, Field};
use crate::flatten::Senses;
use crate::rule::{Response, Rule, Severity};
use crate::template;

impl State {
    /// A rule matched: its alert is opened or goes on.
    pub(super) fn matched(
        &mut self,
        senses: &Senses,
        rule: &Rule,
        fact: &Fact,
        events: &[u64],
    ) -> Option<Notice> {
        let counts = self.counts.entry(rule.id.clone()).or_default();
        counts.matches += 1;
        counts.last = fact.at;
        if self.muted.get(&rule.id).is_some_and(|it| fact.at < *it) {
            return None;
        }
        let mut key = format!("{}\u{1f}{}", fact.text(Field::Agent), rule.alert_type);
        // `info` is not merged with what people have to know.
        if rule.severity == Severity::Info {
            key.push_str("\u{1f}info");
        }
        for field in &rule.key {
            key.push('\u{1f}');
            key.push_str(&fact.get(*field).text().unwrap_or_default());
        }
        let cited = events.iter().map(|it| format!("{}#{it}", fact.stream));
        let live = self
            .live
            .get(&key)
            .and_then(|it| self.alerts.get_mut(it))
            .filter(|it| it.is_live());
        let Some(alert) = live else {
            counts.alerts += 1;
            let alert = opened(senses, rule, fact, &key, cited);
            return self.open(alert);
        };
        alert.count += 1;
        alert.last = fact.at;
        alert.cite(cited);
        let raised = rule.severity > alert.severity;
        if raised {
            let (id, count, first, told) =
                (alert.alert_id.clone(), alert.count, alert.first, alert.told);
            let (cited, state) = (std::mem::take(&mut alert.events), alert.state);
            *alert = opened(senses, rule, fact, &key, cited.into_iter());
            (alert.alert_id, alert.count, alert.first, alert.told) = (id, count, first, told);
            alert.state = state;
        }
        match alert.state {
            // The word of a person holds until the alert is worse than they knew.
            AlertState::Acknowledged | AlertState::FalseAlarm if !raised => None,
            AlertState::Muted if fact.at < alert.until => None,
            AlertState::Muted => {
                alert.state = AlertState::Repeated;
                None
            }
            _ if raised => {
                alert.state = AlertState::Repeated;
                let alert = alert.clone();
                self.tell(alert, Change::Raised, fact.at)
            }
            AlertState::Open if fact.at - alert.first >= SUPPRESSED => {
                alert.state = AlertState::Repeated;
                let alert = alert.clone();
                self.tell(alert, Change::Repeated, fact.at)
            }
            _ => None,
        }
    }

    fn open(&mut self, alert: Alert) -> Option<Notice> {
        if self.alerts.len() >= ALERTS {
            let over = self.alerts.values().filter(|it| !it.is_live());
            let oldest = over
                .min_by_key(|it| it.last)
                .or_else(|| self.alerts.values().min_by_key(|it| it.last));
            if let Some((id, key)) = oldest.map(|it| (it.alert_id.clone(), it.key.clone())) {
                self.alerts.remove(&id);
                self.live.remove(&key);
            }
        }
        let at = alert.first;
        self.live.insert(alert.key.clone(), alert.alert_id.clone());
        self.alerts.insert(alert.alert_id.clone(), alert.clone());
        self.tell(alert, Change::Opened, at)
    }

    /// Whether a change of an alert interrupts people, is kept for a digest, or is only listed.
    fn tell(&mut self, alert: Alert, change: Change, at: i64) -> Option<Notice> {
        let told = self.told.entry(alert.agent.clone()).or_default();
        while told.front().is_some_and(|it| *it <= at - HOUR) {
            told.pop_front();
        }
        // That a small trouble goes on or is over is listed; people heard of it when it began.
        let is_small = alert.severity < Severity::High;
        let is_news = !is_small || matches!(change, Change::Opened | Change::Raised);
        let interrupts = match alert.severity {
            Severity::Info => false,
            Severity::Critical => true,
            _ => is_news && told.len() < HOURLY,
        };
        if interrupts {
            told.push_back(at);
        } else if is_news && alert.severity != Severity::Info {
            let held = self.held.entry(alert.agent.clone()).or_default();
            if !held.contains(&alert.alert_id) {
                held.push(alert.alert_id.clone());
            }
        }
        let mut alert = alert;
        if interrupts {
            alert.told += 1;
            if let Some(kept) = self.alerts.get_mut(&alert.alert_id) {
                kept.told = alert.told;
            }
        }
        let alert = Box::new(alert);
        Some(Notice::Alert {
            alert,
            change,
            interrupts,
        })
    }

    pub(super) fn pass(&mut self, now: i64) -> Vec<Notice> {
        let mut notices = Vec::new();
        self.passed = now;
        let quiet = |it: &Alert| {
            matches!(it.state, AlertState::Open | AlertState::Repeated) && it.last + QUIET <= now
        };
        let live = self
            .live
            .values()
            .filter(|id| self.alerts.get(*id).is_some_and(quiet));
        let over: Vec<String> = live.cloned().collect();
        for id in over {
            let Some(alert) = self.alerts.get_mut(&id) else {
                continue;
            };
            alert.state = AlertState::Resolved;
            let alert = alert.clone();
            self.live.remove(&alert.key);
            notices.extend(self.tell(alert, Change::Resolved, now));
        }
        let due = self.held.keys().filter(|agent| {
            let first = self.told.get(*agent).and_then(|it| it.front());
            first.is_none_or(|it| *it <= now - HOUR)
        });
        let due: Vec<String> = due.cloned().collect();
        for agent in due {
            let held = self.held.remove(&agent).unwrap_or_default();
            let alerts = held.iter().filter_map(|it| self.alerts.get(it));
            let lines = alerts.map(|it| DigestLine {
                alert_id: it.alert_id.clone(),
                title: it.title.clone(),
                severity: it.severity,
                count: it.count,
            });
            let alerts = lines.collect();
            self.told.entry(agent.clone()).or_default().push_back(now);
            notices.push(Notice::Digest {
                agent,
                at: now,
                alerts,
            });
        }
        notices
    }
}

/// A new alert of a rule. Its texts are the templates of the rule, filled with names.
fn opened(
    senses: &Senses,
    rule: &Rule,
    fact: &Fact,
    key: &str,
    cited: impl Iterator<Item = String>,
) -> Alert {
    let fill = |template: &str| template::fill(senses, template, fact);
    let id = text::hash(&format!(
        "{key}\u{1f}{}\u{1f}{}",
        fact.stream, fact.sequence
    ));
    let action = rule.action.as_deref().map(fill);
    let by_default = || match rule.response {
        Response::Ask => "look at the next call of the task and approve or reject it".to_owned(),
        Response::Pause => "look at the paused agent and resume it".to_owned(),
        Response::Note | Response::Nudge => "look at the events of the alert".to_owned(),
    };
    let action = action.or_else(|| (rule.severity >= Severity::High).then(by_default));
    let mut alert = Alert {
        alert_id: format!("alert-{id:016x}"),
        rule: rule.id.clone(),
        alert_type: rule.alert_type.clone(),
        severity: rule.severity,
        title: fill(&rule.title),
        description: fill(&rule.description),
        related_nodes: template::nodes(senses, &rule.nodes, fact),
        action,
        response: rule.response,
        state: AlertState::Open,
        count: 1,
        first: fact.at,
        last: fact.at,
        events: Vec::new(),
        agent: fact.text(Field::Agent).to_owned(),
        task: fact.text(Field::Task).to_owned(),
        conversation: fact.text(Field::Conversation).to_owned(),
        caller: fact.text(Field::Caller).to_owned(),
        key: key.to_owned(),
        until: 0,
        by: String::new(),
        told: 0,
    };
    alert.cite(cited);
    alert
}
