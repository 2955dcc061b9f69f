//! Builds the component that the runner embeds, so that a plain `cargo build` is
//! enough. It must not install anything; `cargo xtask setup` does that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // What a component is compiled for where nobody says otherwise.
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=OUTWATCH_TARGET={target}");
    #[cfg(feature = "embedded")]
    embedded::component();
}

#[cfg(feature = "embedded")]
mod embedded {
    use std::path::{Path, PathBuf};

    use outwatch_component_build::{Build, MISSING, SOURCES, Toolchain, sha256, version_of};

    /// Names a component to embed instead of building one, for packagers who have it.
    const PREBUILT: &str = "OUTWATCH_PREBUILT_COMPONENT";

    /// Has the compiler embed it.
    pub(crate) fn component() {
        println!("cargo::rerun-if-env-changed={PREBUILT}");
        let component = match std::env::var_os(PREBUILT) {
            Some(component) => {
                let component = PathBuf::from(component);
                println!("cargo::rerun-if-changed={}", component.display());
                Ok(component)
            }
            None => built(),
        };
        if let Err(message) = component.and_then(|component| embed(&component)) {
            // Cargo takes an error line by line.
            for line in message.lines() {
                println!("cargo::error={line}");
            }
        }
    }

    /// Also says what would otherwise have to be read from all of it at each start.
    fn embed(component: &Path) -> Result<(), String> {
        let name = component.display();
        let bytes = std::fs::read(component)
            .map_err(|error| format!("failed to read the component {name}: {error}"))?;
        println!("cargo::rustc-env=OUTWATCH_COMPONENT={name}");
        println!(
            "cargo::rustc-env=OUTWATCH_COMPONENT_SHA256={}",
            sha256(&bytes)
        );
        if let Some(version) = version_of(&bytes) {
            println!("cargo::rustc-env=OUTWATCH_COMPONENT_VERSION={version}");
        }
        Ok(())
    }

    fn built() -> Result<PathBuf, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for source in SOURCES {
            println!("cargo::rerun-if-changed={}", root.join(source).display());
        }
        build(&root)
    }

    fn build(root: &Path) -> Result<PathBuf, String> {
        let toolchain = Toolchain::find().ok_or(MISSING)?;
        let root = root
            .canonicalize()
            .map_err(|error| format!("cannot find the project: {error}"))?;
        let build = Build {
            target_dir: target_dir()?,
            root,
        };
        build.run(&toolchain).map_err(|error| format!("{error:#}"))
    }

    /// `target/component`, beside `target/debug` and shared by all profiles.
    fn target_dir() -> Result<PathBuf, String> {
        let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
        // OUT_DIR is target/<profile>/build/<package>/out, with one more folder before the
        // profile when cargo was given a target.
        let out = PathBuf::from(out);
        let profile = out.ancestors().nth(3).ok_or("OUT_DIR is too short")?;
        Ok(profile.parent().unwrap_or(profile).join("component"))
    }
}
