//! The host side of every import: what the component reaches of the world.
//! It must not know the driver, nor what the component does with it.

mod cache;
mod clocks;
mod log;
mod outbounds;

use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p3::bindings::{clocks as wasi_clocks, random as wasi_random};
use wasmtime_wasi::random::{WasiRandom, WasiRandomView};
use wasmtime_wasi::{Deterministic, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::engine::limits::{Flood, Holdings, Limits, Memory};
use crate::engine::v0_1;
use crate::proxy_core::ProxyCore;
use crate::store::Cache;

use outbounds::Slots;

use clocks::Monotonic;
pub(crate) use clocks::{MonotonicClock, WallClock};

/// The world of one instance.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) core: Arc<dyn ProxyCore>,
    pub(crate) cache: Arc<dyn Cache>,
    pub(crate) wall: WallClock,
    /// Takes the place of the system's random numbers.
    pub(crate) seed: Option<u64>,
    /// Told how much the instance has.
    pub(crate) memory: Memory,
    pub(crate) limits: Limits,
    /// Goes on from one instance to the next.
    pub(crate) clock: MonotonicClock,
}

/// What stands behind the imports of one instance.
pub(crate) struct HostState {
    pub(crate) world: World,
    wasi: WasiCtx,
    table: ResourceTable,
    pub(crate) holdings: Holdings,
    /// Bounds what a guest can write to the log.
    log: Flood,
    /// Bounds how many fetches of a guest run at once.
    fetches: Slots,
}

impl HostState {
    pub(crate) fn new(world: World) -> Self {
        Self {
            wasi: context(&world),
            table: ResourceTable::new(),
            holdings: Holdings::new(&world.limits, world.memory.clone()),
            log: Flood::over(world.limits.log_lines),
            fetches: Slots::new(world.limits.fetches),
            world,
        }
    }
}

impl WasiView for HostState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// A WASI context with these clocks, random numbers, and nothing else: no files, no
/// network, no environment.
fn context(world: &World) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder.wall_clock(world.wall.clone());
    if let Some(seed) = world.seed {
        builder.secure_random(Deterministic::new(seed.to_be_bytes().into()));
    }
    builder.build()
}

/// A linker with exactly the imports of the contract.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<HostState>> {
    let mut linker = Linker::new(engine);
    v0_1::outbounds::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    v0_1::cache::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    v0_1::log::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    wasi_clocks::monotonic_clock::add_to_linker::<_, Monotonic>(&mut linker, |state| state)?;
    wasi_clocks::system_clock::add_to_linker::<_, WasiClocks>(&mut linker, HostState::clocks)?;
    wasi_random::random::add_to_linker::<_, WasiRandom>(&mut linker, HostState::random)?;
    Ok(linker)
}
