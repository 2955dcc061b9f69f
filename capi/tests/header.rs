//! The header is what the crate says. It must not know what is in it.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = crate_folder.join("include/outwatch.h");
    let config = cbindgen::Config::from_file(crate_folder.join("cbindgen.toml"));
    let bindings = cbindgen::Builder::new()
        .with_config(config.expect("cbindgen.toml"))
        .with_src(crate_folder.join("src/lib.rs"))
        .generate();
    let mut made = Vec::new();
    bindings.expect("bindings").write(&mut made);
    if std::env::var_os("OUTWATCH_UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).expect("the header can be written");
    } else {
        let kept = std::fs::read(&path).expect("the header");
        assert!(
            kept == made,
            "capi/include/outwatch.h is old; OUTWATCH_UPDATE_DOCS=1 in the test's environment \
             rewrites it"
        );
    }
}
