//! A program that uses every feature it is built with and no other, to be weighed by
//! `cargo xtask sizes`. It must not be of any use besides.
#![allow(clippy::print_stdout, reason = "it must not be optimised away")]

use outwatch::{Component, Monitor};
use outwatch_minimal::FetchingCore;

type Anything = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Anything {
    let file = std::env::args().nth(1).unwrap_or_default();
    uses(&file).await?;
    #[allow(unsafe_code, reason = "nobody runs this")]
    // SAFETY: as the reason says.
    let component = unsafe { Component::from_precompiled_file(&file) }?;
    let builder = Monitor::builder(FetchingCore).component(component);
    let report = builder.start().await?.test("near").await?;
    println!("{report:?}");
    Ok(())
}

#[allow(clippy::unused_async, reason = "some features are asynchronous")]
async fn uses(file: &str) -> Anything {
    let _ = file;
    #[cfg(feature = "fetch")]
    fetch(file).await?;
    #[cfg(feature = "file-cache")]
    println!("{:?}", outwatch::FileCache::open(file)?.opened());
    #[cfg(feature = "compiler")]
    println!("{:?}", Component::from_file(file)?);
    #[cfg(feature = "embedded")]
    println!("{:?}", Component::embedded()?);
    #[cfg(feature = "native-core")]
    println!("{:?}", Monitor::builder(native_core(file)?.1).start().await);
    #[cfg(feature = "inbound")]
    inbound(file).await?;
    #[cfg(feature = "sing-box")]
    sing_box(file).await?;
    #[cfg(feature = "api")]
    api(file).await?;
    #[cfg(feature = "network")]
    outwatch::network::watch()?.next().await;
    Ok(())
}

#[cfg(feature = "fetch")]
async fn fetch(url: &str) -> Anything {
    let request = outwatch::Request {
        url: url.to_owned(),
        method: url.to_owned(),
        headers: Vec::new(),
        deadline: std::time::Duration::from_secs(1),
        body_limit: 1,
        response_headers: Vec::new(),
        repeat: true,
        family: None,
    };
    let trust = outwatch::fetch::Trust::system();
    let fetched = outwatch::fetch::through_dial(&FetchingCore, url, &request, &trust).await?;
    println!("{fetched:?}");
    Ok(())
}

#[cfg(feature = "native-core")]
fn native_core(
    file: &str,
) -> Result<(outwatch::config::Config, outwatch::NativeCore), Box<dyn std::error::Error>> {
    let options = outwatch::config::LoadOptions::default();
    let config = outwatch::config::read(file, file.as_bytes(), &options).config;
    let config = config.ok_or("no config")?;
    let (core, _) = outwatch::NativeCore::new(&config.entries, config.certificate.as_ref());
    Ok((config, core))
}

#[cfg(feature = "inbound")]
async fn inbound(file: &str) -> Anything {
    use std::sync::Arc;

    use outwatch::group::{GroupPlan, Groups};

    let (config, core) = native_core(file)?;
    let core = Arc::new(core);
    let cache = Arc::new(outwatch::MemoryCache::default());
    let groups = Groups::new(core.clone(), GroupPlan::of_config(&config.entries).0, cache);
    let monitor = Monitor::builder(core.clone()).start().await?;
    groups.keep(&monitor).await;
    let dispatch = outwatch::dispatch::Dispatch::new(core, groups, monitor, file);
    let dispatch = Arc::new(dispatch);
    for inbound in outwatch::inbound::read(&config.inbounds).0 {
        inbound.serve(dispatch.clone())?.stop().await;
    }
    Ok(())
}

#[cfg(feature = "api")]
async fn api(address: &str) -> Anything {
    let monitor = Monitor::builder(FetchingCore).start().await?;
    let serving = outwatch::api::Api::new(&monitor).serve(address.parse()?)?;
    serving.stop().await;
    Ok(())
}

#[cfg(feature = "sing-box")]
async fn sing_box(file: &str) -> Anything {
    let (config, _) = native_core(file)?;
    let (core, _) = outwatch::SingBoxCore::start(file.as_ref(), &config).await?;
    println!("{:?}", Monitor::builder(core).start().await);
    Ok(())
}
