//! A dashboard of the user's own choice: the files of a folder, under `/ui/`. It must not
//! know what they are.

use std::path::Path;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use tower_http::services::ServeDir;

/// The files of a folder. They are served without the secret, as they hold none; what a
/// dashboard asks for is behind it.
pub(super) fn router<S: Clone + Send + Sync + 'static>(folder: &Path) -> Router<S> {
    // Files name each other from where the page stands.
    let to_the_page = || async { Redirect::permanent("/ui/") };
    Router::new()
        .route("/ui", get(to_the_page))
        .nest_service("/ui/", ServeDir::new(folder))
}
