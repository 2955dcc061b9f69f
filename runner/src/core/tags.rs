//! Finds outbounds by their tags. It must not know what an outbound is, nor keep the tags,
//! of which a list of thousands has enough copies.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

/// The places of a list's tags. Where a tag stands twice, the first counts.
pub(super) struct Tags {
    places: HashTable<usize>,
    hasher: RandomState,
}

impl Tags {
    /// Those of a list of this length; `tag_at` gives the tag at a place.
    pub(super) fn of<'a>(length: usize, tag_at: impl Fn(usize) -> &'a str) -> Self {
        let hasher = RandomState::new();
        let mut places = HashTable::with_capacity(length);
        let hash = |&place: &usize| hasher.hash_one(tag_at(place));
        for place in 0..length {
            let same = |other: &usize| tag_at(*other) == tag_at(place);
            places.entry(hash(&place), same, hash).or_insert(place);
        }
        Self { places, hasher }
    }

    /// Where a tag stands in the same list.
    pub(super) fn find<'a>(&self, tag: &str, tag_at: impl Fn(usize) -> &'a str) -> Option<usize> {
        let place = self
            .places
            .find(self.hasher.hash_one(tag), |place| tag_at(*place) == tag);
        place.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_is_found_where_it_stands_first() {
        let list = ["a", "b", "a", "", "c"];
        let tags = Tags::of(list.len(), |place| list[place]);
        let found = ["a", "b", "", "c", "d"].map(|tag| tags.find(tag, |place| list[place]));
        assert_eq!(found, [Some(0), Some(1), Some(3), Some(4), None]);
    }

    #[test]
    fn thousands_are_told_apart() {
        let list: Vec<String> = (0..5_000).map(|nth| format!("node-{nth}")).collect();
        let tags = Tags::of(list.len(), |place| &list[place]);
        for (place, tag) in list.iter().enumerate() {
            assert_eq!(tags.find(tag, |place| &list[place]), Some(place));
        }
    }
}
