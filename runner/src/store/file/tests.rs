//! What is done with a file that is missing, broken, foreign or too new. These
//! tests must not know how a file is written, save where they spoil one.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};

use redb::{Database, TableDefinition};
use tempfile::TempDir;

use super::*;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = folder.path().read_dir().expect("a folder").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A closed cache file with some hundred pairs, and the pairs.
fn filled(path: &Path) -> Vec<(String, Vec<u8>)> {
    let cache = FileCache::open(path).expect("opens");
    let pairs: Vec<_> = (0..300_u32)
        .map(|n| (format!("result/{n}"), n.to_string().repeat(30).into()))
        .collect();
    cache.update(&[], &pairs).expect("written");
    cache.get_prefix("").expect("read")
}

/// The file is replaced, kept as it was, and the user told.
#[track_caller]
fn check_replaced(folder: &TempDir, content: &[u8]) {
    let path = folder.path().join("cache");
    let before = names(folder);
    let cache = FileCache::open(&path).expect("starts anew");
    let Opened::Replaced {
        path: was,
        kept,
        why,
    } = cache.opened()
    else {
        panic!("replaced, not {:?}", cache.opened());
    };
    assert_eq!((was, cache.keys()), (&path, Ok(vec![])));
    assert!(!why.is_empty());
    assert!(fs::read(kept).expect("kept") == content, "kept as it was");
    let name = kept
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert!(
        name.starts_with("cache.broken-") && !before.contains(&name),
        "{name}"
    );
    let warning = cache.opened().warning().expect("a warning");
    assert!(
        warning.contains(why) && warning.contains(&name),
        "{warning}"
    );
    cache.set("a", b"1").expect("usable");
    drop(cache);
    let cache = FileCache::open(&path).expect("opens again");
    assert_eq!(
        (cache.opened(), cache.get("a")),
        (&Opened::Existing, Ok(Some(b"1".to_vec())))
    );
}

#[test]
fn p3_a_missing_file_is_made_with_its_folders_for_the_owner_alone() {
    let folder = folder();
    let path = folder.path().join("new").join("folders").join("cache");
    let cache = FileCache::open(&path).expect("made");
    assert_eq!(
        (cache.opened(), cache.opened().warning()),
        (&Opened::New, None)
    );
    assert_eq!((cache.path(), cache.keys()), (path.as_path(), Ok(vec![])));
    let mode = |path: &Path| fs::metadata(path).expect("exists").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
}

#[test]
fn p3_an_empty_file_is_none() {
    let folder = folder();
    let path = folder.path().join("cache");
    File::create(&path).expect("made");
    assert_eq!(
        FileCache::open(&path).expect("opens").opened(),
        &Opened::New
    );
    assert_eq!(names(&folder), ["cache"]);
}

#[test]
fn p3_a_foreign_file_is_kept_aside_and_every_one_of_them() {
    let folder = folder();
    for content in [
        &b"{}"[..],
        b"outbounds:\n",
        &[0; 5000],
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    ] {
        fs::write(folder.path().join("cache"), content).expect("spoiled");
        check_replaced(&folder, content);
    }
    let expected = [
        "cache",
        "cache.broken-1",
        "cache.broken-2",
        "cache.broken-3",
        "cache.broken-4",
    ];
    assert_eq!(names(&folder), expected);
}

#[test]
fn p3_a_database_of_something_else_is_kept_aside() {
    let folder = folder();
    let path = folder.path().join("cache");
    let other: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("pairs");
    let database = Database::create(&path).expect("made");
    let transaction = database.begin_write().expect("begins");
    transaction
        .open_table(other)
        .expect("opens")
        .insert("a", &b"1"[..])
        .expect("inserts");
    transaction.commit().expect("commits");
    drop(database);
    // Looking at it leaves a database's own notes in it, so that only its name counts.
    let cache = FileCache::open(&path).expect("starts anew");
    let warning = cache.opened().warning().expect("a warning");
    assert!(warning.contains("no cache of Outwatch"), "{warning}");
    let database = Database::open(folder.path().join("cache.broken-1")).expect("kept");
    assert!(
        database
            .begin_write()
            .expect("begins")
            .open_table(other)
            .is_ok()
    );
}

#[test]
fn p3_a_file_of_a_newer_version_is_refused_and_stays() {
    let folder = folder();
    let path = folder.path().join("cache");
    let pairs = filled(&path);
    let set_format = |format: u32| {
        let about: TableDefinition<'_, &str, u32> = TableDefinition::new("outwatch_cache");
        let database = Database::open(&path).expect("opens");
        let transaction = database.begin_write().expect("begins");
        transaction
            .open_table(about)
            .expect("opens")
            .insert("format", format)
            .expect("inserts");
        transaction.commit().expect("commits");
    };
    set_format(disk::FORMAT + 1);
    let error = FileCache::open(&path).expect_err("too new");
    assert!(
        matches!(
            error,
            OpenError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.contains("newer version (format 2; this one reads up to 1)"),
        "{text}"
    );
    assert!(text.contains("update this program"), "{text}");

    set_format(disk::FORMAT);
    let cache = FileCache::open(&path).expect("opens");
    assert_eq!(cache.get_prefix(""), Ok(pairs));
    assert_eq!(names(&folder), ["cache"]);
}

#[test]
fn p3_a_file_that_is_open_already_is_refused_in_the_same_process_too() {
    let folder = folder();
    let path = folder.path().join("cache");
    let first = FileCache::open(&path).expect("opens");
    let error = FileCache::open(&path).expect_err("in use");
    assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
    drop(first);
    FileCache::open(&path).expect("free again");
}

#[test]
fn p3_what_is_no_file_or_cannot_be_one_is_refused() {
    let folder = folder();
    let error = FileCache::open(folder.path()).expect_err("a folder");
    assert!(matches!(error, OpenError::NotAFile { .. }), "{error:?}");
    fs::write(folder.path().join("file"), "x").expect("written");
    let error = FileCache::open(folder.path().join("file").join("cache")).expect_err("no folder");
    assert!(matches!(error, OpenError::Io { .. }), "{error:?}");
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn p3_a_damaged_byte_is_noticed_or_harmless_but_never_read_as_another_value() {
    let folder = folder();
    let path = folder.path().join("cache");
    let pairs = filled(&path);
    let whole = fs::read(&path).expect("read");
    let mut noticed = 0;
    // Every place of the header, and some of each page.
    let places = (0..512).step_by(7).chain((512..whole.len()).step_by(4093));
    for place in places {
        fs::write(&path, &whole).expect("written");
        let file = File::options().write(true).open(&path).expect("opens");
        let flipped = [whole.get(place).expect("inside") ^ 0x41];
        file.write_all_at(&flipped, place as u64).expect("spoiled");
        drop(file);
        match FileCache::open(&path) {
            Ok(cache) if cache.opened() == &Opened::Existing => {
                assert!(cache.get_prefix("") == Ok(pairs.clone()), "byte {place}");
            }
            Ok(cache) => {
                noticed += 1;
                let Opened::Replaced { kept, .. } = cache.opened() else {
                    panic!("byte {place}: {:?}", cache.opened())
                };
                fs::remove_file(kept).expect("removed");
            }
            Err(error) => panic!("byte {place}: {error:?}"),
        }
    }
    assert!(
        noticed > 5,
        "the damage reached what matters {noticed} times"
    );
}

#[test]
fn p3_a_file_that_was_cut_off_is_kept_aside() {
    let folder = folder();
    let path = folder.path().join("cache");
    filled(&path);
    let whole = fs::read(&path).expect("read");
    for length in [1, 9, 64, 511, 4096, 8192, whole.len() / 2, whole.len() - 1] {
        let cut = whole.get(..length).expect("shorter");
        fs::write(&path, cut).expect("written");
        check_replaced(&folder, cut);
    }
}
