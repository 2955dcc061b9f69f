//! The cache's file: a redb database with a format number and the pairs. It must
//! not know who wants them, nor what happens to a file that it cannot read.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use redb::{
    Builder, Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, StorageError,
    TableDefinition, TableError,
};

use super::pairs::Pairs;
use super::writer::{Change, Target};

/// The format that this version writes and the newest that it reads.
pub(super) const FORMAT: u32 = 1;

/// Marks a file as ours and says in which format it is.
const ABOUT: TableDefinition<'_, &str, u32> = TableDefinition::new("outwatch_cache");
const ABOUT_FORMAT: &str = "format";
const PAIRS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("pairs");

/// All pairs are in memory anyway: redb needs few pages of its own.
const PAGE_CACHE: usize = 512 * 1024;

/// An open file, for nobody else as long as it is open.
pub(super) struct Disk {
    path: PathBuf,
    /// None after a failed write: redb takes no more until it is opened again.
    database: Option<Database>,
}

/// Why a file could not be opened.
#[derive(Debug)]
pub(super) enum Unopened {
    /// Another process or handle has it open.
    Locked,
    /// It is in this newer format.
    Newer(u32),
    /// It is damaged or something else's, and why that is so.
    Broken(String),
    /// The system said no.
    Io(io::Error),
}

/// Makes a file with no pairs. A kill leaves no file or a whole one, and a file that
/// is there already stays.
pub(super) fn create(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    // A temporary file is readable by its owner alone.
    let file = tempfile::Builder::new()
        .prefix(".outwatch-new-")
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    write_empty(file.path()).map_err(io::Error::other)?;
    match file.persist_noclobber(path) {
        Err(failed) if failed.error.kind() != ErrorKind::AlreadyExists => Err(failed.error),
        _ => Ok(()),
    }
}

fn write_empty(path: &Path) -> Result<(), redb::Error> {
    let database = Builder::new().set_cache_size(PAGE_CACHE).create(path)?;
    let transaction = database.begin_write()?;
    transaction
        .open_table(ABOUT)?
        .insert(ABOUT_FORMAT, FORMAT)?;
    transaction.open_table(PAIRS)?;
    transaction.commit()?;
    Ok(())
}

impl Disk {
    /// Opens a file and reads all its pairs. Every page is checked, so that damage
    /// shows here and not later.
    pub(super) fn open(path: &Path) -> Result<(Self, Pairs), Unopened> {
        let database = Builder::new()
            .set_cache_size(PAGE_CACHE)
            .set_check_integrity_on_open(true)
            .open(path)
            .map_err(Unopened::from)?;
        let pairs = read_all(&database)?;
        Ok((
            Self {
                path: path.to_owned(),
                database: Some(database),
            },
            pairs,
        ))
    }

    fn database(&mut self) -> Result<&Database, redb::Error> {
        let database = match self.database.take() {
            Some(database) => database,
            None => Builder::new().set_cache_size(PAGE_CACHE).open(&self.path)?,
        };
        Ok(self.database.insert(database))
    }
}

impl Target for Disk {
    fn write(&mut self, changes: &[Change]) -> Result<(), String> {
        self.database()
            .and_then(|database| commit(database, changes))
            .map_err(|error| {
                self.database = None;
                format!("{}: {error}", self.path.display())
            })
    }
}

fn commit(database: &Database, changes: &[Change]) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    // The other choice keeps commits in memory, where a kill loses all of them. The
    // price, a wait for the disk, is paid by the writer's thread.
    transaction.set_durability(Durability::Immediate)?;
    let mut pairs = transaction.open_table(PAIRS)?;
    for (key, value) in changes {
        match value {
            Some(value) => pairs.insert(key.as_str(), value.as_slice())?,
            None => pairs.remove(key.as_str())?,
        };
    }
    drop(pairs);
    transaction.commit()?;
    Ok(())
}

fn read_all(database: &Database) -> Result<Pairs, Unopened> {
    match read_format(database).map_err(Unopened::from)? {
        Some(FORMAT) => read_pairs(database).map_err(Unopened::from),
        Some(newer) if newer > FORMAT => Err(Unopened::Newer(newer)),
        _ => Err(Unopened::Broken(
            "it is a database, but no cache of Outwatch".to_owned(),
        )),
    }
}

/// The format that a file says it has; none if it is not ours.
fn read_format(database: &Database) -> Result<Option<u32>, redb::Error> {
    match database.begin_read()?.open_table(ABOUT) {
        Ok(about) => Ok(about.get(ABOUT_FORMAT)?.map(|format| format.value())),
        Err(TableError::Storage(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

fn read_pairs(database: &Database) -> Result<Pairs, redb::Error> {
    let mut pairs = Pairs::default();
    for pair in database.begin_read()?.open_table(PAIRS)?.iter()? {
        let (key, value) = pair?;
        pairs.load(key.value().to_owned(), value.value().to_owned());
    }
    Ok(pairs)
}

impl From<DatabaseError> for Unopened {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
                Self::Locked
            }
            DatabaseError::Storage(StorageError::Io(error)) => Self::from(error),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl From<redb::Error> for Unopened {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Io(error) => Self::from(error),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl From<io::Error> for Unopened {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // What redb says of a file that is none of its own, or was cut off.
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => Self::Broken(error.to_string()),
            _ => Self::Io(error),
        }
    }
}
