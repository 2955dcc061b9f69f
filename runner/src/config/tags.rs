//! Gives every entry a tag of its own. It must not know what tags are used for.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use super::LoadOptions;
use super::entries::Draft;
use super::findings::Findings;
use super::model::Entry;
use super::wording::{field, quoted};

/// Where the entry of a tag is.
pub(super) type Index = HashMap<String, usize>;

/// Settles the tags of all entries, in file order. A tag that the file gives twice
/// is an error, unless it is to be changed; the tag made for an entry without one
/// gives way to those of the file.
pub(super) fn assign(
    drafts: Vec<Draft>,
    options: &LoadOptions,
    findings: &mut Findings,
) -> (Vec<Entry>, Index) {
    let (tagged, mut entries): (Vec<_>, Vec<_>) = drafts
        .into_iter()
        .map(|draft| (draft.tagged, draft.entry))
        .unzip();
    let mut names = Names::default();
    // Every tag of the file is taken before one is made up.
    let mut left: Vec<usize> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if !tagged
            .get(at)
            .is_some_and(|tagged| *tagged && names.take(&entry.tag, at))
        {
            left.push(at);
        }
    }
    for at in left {
        let is_duplicate = tagged.get(at).is_some_and(|tagged| *tagged);
        if is_duplicate && !options.dedupe_tags {
            duplicate(&entries, at, &names, findings);
        } else if let Some(entry) = entries.get_mut(at) {
            entry.tag = names.make(&entry.tag, at);
        }
    }
    (entries, names.taken)
}

/// The tags that are taken.
#[derive(Default)]
pub(crate) struct Names {
    taken: Index,
    /// The next suffix to try, by tag.
    next: HashMap<String, usize>,
}

impl Names {
    /// Whether `tag` was free; it is not any more.
    fn take(&mut self, tag: &str, at: usize) -> bool {
        match self.taken.entry(tag.to_owned()) {
            Slot::Occupied(_) => false,
            Slot::Vacant(slot) => {
                slot.insert(at);
                true
            }
        }
    }

    /// `tag`, or the first free one of `tag #2`, `tag #3` and so on.
    pub(crate) fn make(&mut self, tag: &str, at: usize) -> String {
        let mut candidate = tag.to_owned();
        while !self.take(&candidate, at) {
            let next = self.next.entry(tag.to_owned()).or_insert(2);
            candidate = format!("{tag} #{next}");
            *next += 1;
        }
        candidate
    }
}

fn duplicate(entries: &[Entry], at: usize, names: &Names, findings: &mut Findings) {
    let Some(entry) = entries.get(at) else { return };
    let first = names
        .taken
        .get(&entry.tag)
        .and_then(|first| entries.get(*first));
    let first = first.map_or("another entry", |first| first.path.as_str());
    let message = format!(
        "the tag {} of {} is taken by {first}",
        quoted(&entry.tag),
        entry.path
    );
    findings.error(field(&entry.path, "tag"), message).hint =
        Some("give each its own tag, or load with --dedupe-tags".to_owned());
}
