//! The memories that a caller of an agent sees: of the agent's own, and of those that it looks into.

use access::{Permission, Principal};
use memory::{Access, Handle, Viewer};

use super::Inner;

impl Inner {
    /// What a caller of the agent `id` sees of the memory `space`: of its own, or of one that it looks into. A caller that
    /// is an agent sees no more than the person for whom it asks.
    pub(crate) fn viewer(&self, id: &str, space: &str, caller: &Principal) -> Viewer {
        let agents = self.lock();
        // A space that is no agent's is shared.
        let Some(slot) = agents.get(space).filter(|_| self.parts.walls) else {
            return Viewer::All;
        };
        let own = crate::turn::principal(id);
        let person = caller.person();
        let name = person.name();
        if name == own && id == space || caller.may(Permission::Operate) {
            return Viewer::All;
        }
        match slot.readers.iter().any(|it| it == name) {
            true => Viewer::Reader(name.into()),
            false => Viewer::Caller(name.into()),
        }
    }

    /// Whether a caller may see anything of a memory through the view of another agent: an agent that lists its callers
    /// shows its memory to these, to its readers and to operators alone.
    fn may_look_into(&self, space: &str, caller: &Principal) -> bool {
        let agents = self.lock();
        let Some(slot) = agents.get(space) else {
            return true;
        };
        let person = caller.person();
        let listed = |list: &[String]| list.iter().any(|it| it == person.name());
        let admits = slot.callers.as_deref().is_none_or(listed);
        admits || listed(&slot.readers) || caller.may(Permission::Operate)
    }

    /// The spaces of memory that an agent recalls from for a caller: its own, and those that it may look into.
    pub(crate) fn spaces(&self, id: &str, caller: &Principal) -> Vec<Handle> {
        let Some(memory) = &self.parts.memory else {
            return Vec::new();
        };
        let views = self.lock().get(id).map(|slot| slot.views.clone());
        let views = views.into_iter().flatten();
        let views = views.filter(|name| self.may_look_into(name, caller));
        let views = views.filter_map(|name| Some(memory.space(&name).ok()?.shared(Access::Read)));
        let spaces = memory.space(id).into_iter().chain(views);
        spaces
            .map(|space| {
                let viewer = self.viewer(id, space.name().as_str(), caller);
                space.seen_by(viewer)
            })
            .collect()
    }
}
