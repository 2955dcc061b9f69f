//! `block`: refuses every connection.
//! It must not know why.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Protocol;
use crate::core::options::Reader;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{Cause, FetchError, Phase, Target};

struct Block;

#[derive(Deserialize)]
struct Fields {}

pub(super) fn read(
    options: Map<String, Value>,
    reader: &mut Reader<'_>,
) -> Option<Box<dyn Protocol>> {
    let Fields {} = reader.read(options)?;
    Some(Box::new(Block))
}

#[async_trait]
impl Protocol for Block {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let text = format!(
            "`{}` blocks every connection, so also the one to {target}",
            way.tag()
        );
        Err(FetchError::new(Phase::Dial, Cause::Refused, text))
    }
}
