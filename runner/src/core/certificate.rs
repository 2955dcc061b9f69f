//! The config's top-level `certificate`: which authorities all of it trusts.
//! It must not know any outbound.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::options::{Reader, Strings};
use crate::fetch::Trust;
use crate::report::Problem;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    store: Store,
    certificate: Strings,
    certificate_path: Strings,
    certificate_directory_path: Strings,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Store {
    #[default]
    System,
    #[serde(alias = "chrome")]
    Mozilla,
    None,
}

/// What the object asks to trust; the system's roots without one. What cannot be used
/// is told in `problems` and left out.
pub(crate) fn trust(object: Option<&Map<String, Value>>, problems: &mut Vec<Problem>) -> Trust {
    let Some(object) = object else {
        return Trust::system();
    };
    let mut reader = Reader::new("certificate", problems);
    let Some(fields) = reader.read::<Fields>(object.clone()) else {
        return Trust::system();
    };
    let mut trust = match fields.store {
        Store::System => Trust::system(),
        Store::Mozilla => Trust::mozilla(),
        Store::None => Trust::none(),
    };
    let mut add = |reader: &mut Reader<'_>, field: &str, from: &str, pem: &[u8]| match trust
        .with_extra(pem)
    {
        Ok(more) => trust = more,
        Err(error) => reader.error(field, format!("{from}{error}")),
    };
    if !fields.certificate.0.is_empty() {
        add(
            &mut reader,
            "certificate",
            "",
            fields.certificate.0.join("\n").as_bytes(),
        );
    }
    let mut files: Vec<(&str, PathBuf)> = fields
        .certificate_path
        .0
        .iter()
        .map(|path| ("certificate_path", path.into()))
        .collect();
    for directory in &fields.certificate_directory_path.0 {
        match entries(directory.as_ref()) {
            Ok(found) => {
                files.extend(
                    found
                        .into_iter()
                        .map(|path| ("certificate_directory_path", path)),
                );
            }
            Err(error) => {
                let text = format!("`{directory}` cannot be read: {error}");
                reader.error("certificate_directory_path", text);
            }
        }
    }
    for (field, path) in files {
        match fs::read(&path) {
            Ok(pem) => add(&mut reader, field, &format!("`{}`: ", path.display()), &pem),
            Err(error) => {
                reader.error(
                    field,
                    format!("`{}` cannot be read: {error}", path.display()),
                );
            }
        }
    }
    trust
}

/// The files in a directory, in the order of their names.
fn entries(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
