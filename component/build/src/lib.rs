//! Builds the component.
