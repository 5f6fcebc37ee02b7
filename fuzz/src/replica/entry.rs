//! Full entries as they come.

use netloom_replica::ClassId;
use netloom_replica::codec::Blobs;
use netloom_replica::entry::{ENTRY_BYTES_MAX, read_entry, value_of, write_entry};
use netloom_replica::limits::WORDS_MAX;
use netloom_wire::Sequence8;

use super::table;
use super::witness::check_values;

/// Contents by field.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents(Vec<(usize, Vec<u8>)>);

impl Contents {
    pub fn push(&mut self, field: usize, content: &[u8]) {
        self.0.push((field, content.to_vec()));
    }
}

impl Blobs for Contents {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.iter().find(|(own, _)| *own == field).map_or(&[], |(_, content)| content)
    }
}

/// Reads an entry. What is read holds a value for every field that its audience sees, and says the same when it is
/// written again.
pub fn replica_entry(data: &[u8]) {
    let mut words = [0; WORDS_MAX];
    let mut contents = Contents::default();
    let keep = |field, content: &[u8]| contents.push(field, content);
    let Ok((entry, length)) = read_entry(data, table(), &mut words, keep) else {
        return;
    };
    assert!(length <= data.len().min(ENTRY_BYTES_MAX));
    let class = table().class(ClassId(entry.class), entry.profile).expect("an entry names a class");
    let visible = class.visible(entry.audience);
    for (index, field) in class.fields().iter().enumerate().filter(|(index, _)| visible >> index & 1 != 0) {
        let is_valid =
            field.kind.content_bytes_max().is_none() || field.kind.read_content(contents.blob(index)).is_ok();
        assert!(is_valid, "the content of field {index}");
    }
    let value = |index: usize| {
        let field = &class.fields()[index];
        Some(value_of(field, &words, entry.profile, contents.blob(index)))
    };
    check_values(class, visible, value);

    let mut out = [0; ENTRY_BYTES_MAX];
    let again = write_entry(&entry, class, &words, &contents, Sequence8(0), &mut out).expect("a read entry");
    let (mut words_again, mut contents_again) = ([0; WORDS_MAX], Contents::default());
    let keep = |field, content: &[u8]| contents_again.push(field, content);
    assert_eq!(read_entry(&out[..again], table(), &mut words_again, keep), Ok((entry, again)));
    assert_eq!((words, contents), (words_again, contents_again));
}
