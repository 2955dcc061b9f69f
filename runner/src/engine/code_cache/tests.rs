//! Tests of the folder of compiled code: what is kept, and what is not used.

use tempfile::TempDir;
use wasmtime::Config;

use super::*;
use crate::engine::component::sha256;

/// A component with nothing in it.
const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

/// Another: it has an empty section of its own.
const OTHER: &[u8] = b"\0asm\x0d\0\x01\0\0\x02\x01x";

/// An engine that compiles nothing, as the process's one.
fn running(config: &mut Config) -> Engine {
    Engine::new(config.enable_compiler(false)).unwrap()
}

struct Scene {
    _parent: TempDir,
    cache: CodeCache,
    engine: Engine,
}

impl Scene {
    fn new() -> Self {
        let parent = TempDir::new().unwrap();
        Self {
            cache: CodeCache::in_folder(parent.path().join("outwatch").join("code")),
            _parent: parent,
            engine: running(&mut Config::new()),
        }
    }

    /// Whether the code of a component is there.
    fn is_kept(&self, bytes: &[u8]) -> bool {
        let key = key(&self.engine, &sha256(bytes));
        self.cache.kept(&self.engine, &key).is_some()
    }

    fn compile(&self, bytes: &[u8]) {
        self.cache
            .code(&self.engine, bytes, &sha256(bytes))
            .unwrap();
    }

    fn paths(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.cache.folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn only_path(&self) -> PathBuf {
        let paths = self.paths();
        assert_eq!(paths.len(), 1, "{paths:?}");
        paths.into_iter().next().unwrap()
    }
}

#[test]
fn what_was_compiled_once_is_kept_for_its_component_alone() {
    let scene = Scene::new();
    assert!(!scene.is_kept(EMPTY));
    scene.compile(EMPTY);
    assert!(scene.is_kept(EMPTY));
    assert!(!scene.is_kept(OTHER));
    scene.compile(OTHER);
    assert!(scene.is_kept(OTHER));
    assert_eq!(scene.paths().len(), 2);
}

#[test]
fn kept_code_is_used_and_not_written_again() {
    let scene = Scene::new();
    scene.compile(EMPTY);
    let path = scene.only_path();
    let long_ago = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::open(&path).unwrap().set_modified(long_ago).unwrap();
    scene.compile(EMPTY);
    assert_eq!(scene.only_path(), path);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
}

#[test]
fn damaged_and_cut_off_code_is_compiled_anew() {
    let damages: [fn(&mut Vec<u8>); 3] = [
        |code| *code.last_mut().unwrap() ^= 1,
        |code| code.truncate(code.len() / 2),
        Vec::clear,
    ];
    for damage in damages {
        let scene = Scene::new();
        scene.compile(EMPTY);
        let path = scene.only_path();
        let mut code = fs::read(&path).unwrap();
        damage(&mut code);
        fs::write(&path, &code).unwrap();
        assert!(!scene.is_kept(EMPTY));
        scene.compile(EMPTY);
        assert!(scene.is_kept(EMPTY));
        assert_eq!(scene.only_path(), path);
    }
}

#[test]
fn code_that_was_compiled_otherwise_is_not_used() {
    let scene = Scene::new();
    scene.compile(EMPTY);
    let engine = running(Config::new().epoch_interruption(true));
    assert!(
        scene
            .cache
            .kept(&engine, &key(&engine, &sha256(EMPTY)))
            .is_none()
    );
    scene.cache.code(&engine, EMPTY, &sha256(EMPTY)).unwrap();
    assert!(
        scene
            .cache
            .kept(&engine, &key(&engine, &sha256(EMPTY)))
            .is_some()
    );
    assert!(scene.is_kept(EMPTY));
}

#[test]
fn code_under_another_ones_name_is_not_used() {
    let scene = Scene::new();
    let engine = running(Config::new().epoch_interruption(true));
    scene.cache.code(&engine, EMPTY, &sha256(EMPTY)).unwrap();
    let path = scene.only_path();
    let (_, digest) = path.to_str().unwrap().rsplit_once('-').unwrap();
    let foreign = format!("{}-{digest}", key(&scene.engine, &sha256(EMPTY)));
    fs::rename(&path, scene.cache.folder.join(foreign)).unwrap();
    assert!(!scene.is_kept(EMPTY));
    scene.compile(EMPTY);
    assert!(scene.is_kept(EMPTY));
}

#[test]
fn other_files_in_the_folder_are_left_alone() {
    let scene = Scene::new();
    scene.compile(EMPTY);
    for name in ["readme.txt", "no-digest.txt", "nodash.code"] {
        fs::write(scene.cache.folder.join(name), "mine").unwrap();
    }
    scene.compile(OTHER);
    assert!(scene.is_kept(EMPTY) && scene.is_kept(OTHER));
    assert_eq!(scene.paths().len(), 5);
}

#[test]
fn the_oldest_code_makes_room() {
    let scene = Scene::new();
    scene.compile(EMPTY);
    let start = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::open(scene.only_path())
        .unwrap()
        .set_modified(start)
        .unwrap();
    for number in 0..KEPT {
        let name = u8::try_from(number).unwrap() + b'a';
        scene.compile(&[OTHER, &[0, 2, 1, name]].concat());
    }
    assert_eq!(scene.paths().len(), KEPT);
    assert!(!scene.is_kept(EMPTY));
}

#[test]
fn a_folder_that_cannot_be_made_costs_a_compilation_and_no_more() {
    let scene = Scene::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    let cache = CodeCache::in_folder(file.path().join("code"));
    cache.code(&scene.engine, EMPTY, &sha256(EMPTY)).unwrap();
    assert!(cache.files().is_empty());
}

#[test]
fn what_is_no_component_is_refused_and_not_kept() {
    let scene = Scene::new();
    let refused = scene.cache.from_bytes(b"#!/bin/sh\n");
    assert!(matches!(refused, Err(LoadError::NotAComponent { .. })));
    assert!(!scene.cache.folder.exists());
}

#[test]
fn the_embedded_component_runs_from_kept_code() {
    let scene = Scene::new();
    for _ in 0..2 {
        scene.cache.from_bytes(Component::embedded_bytes()).unwrap();
        scene.only_path();
    }
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_folder_and_its_code_are_the_users_alone() {
        let scene = Scene::new();
        scene.compile(EMPTY);
        assert_eq!(mode(&scene.cache.folder), 0o700);
        assert_eq!(mode(&scene.only_path()), 0o600);
    }

    #[test]
    fn code_that_others_may_write_is_not_used() {
        let scene = Scene::new();
        scene.compile(EMPTY);
        let path = scene.only_path();
        for open in [0o620, 0o602] {
            set_mode(&path, open);
            assert!(!scene.is_kept(EMPTY));
        }
        scene.compile(EMPTY);
        assert!(scene.is_kept(EMPTY));
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_folder_that_others_may_write_is_neither_used_nor_filled() {
        let scene = Scene::new();
        scene.compile(EMPTY);
        for open in [0o720, 0o702] {
            set_mode(&scene.cache.folder, open);
            assert!(!scene.is_kept(EMPTY));
            scene.compile(OTHER);
            assert_eq!(scene.paths().len(), 1);
        }
    }
}
