//! Values with several things in them. It must not know what they are.

/// The parts between commas, without white space and without empty ones.
pub(super) fn of(list: Option<&str>) -> Vec<&str> {
    let parts = list.unwrap_or_default().split(',').map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}
