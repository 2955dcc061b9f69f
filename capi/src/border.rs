//! The border to C: how a call comes in, how it fails, and how text goes over. It must
//! not know what any call is for.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

/// How a call went.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// It did what it was asked.
    Ok = 0,
    /// A pointer is NULL that must not be, a text is not UTF-8, or a number is none of
    /// those listed.
    BadArgument = 1,
    /// The monitoring options are wrong; the message has a line for each problem.
    BadOptions = 2,
    /// The list of outbounds is wrong.
    BadOutbounds = 3,
    /// The component cannot be loaded, or failed while it started.
    BadComponent = 4,
    /// The cache file cannot be used: it is another process's, or of a newer version.
    BadCache = 5,
    /// No outbound or group has this tag.
    UnknownTag = 6,
    /// An outbound of this kind is never tested.
    Untestable = 7,
    /// It cannot be tested now; it will be, once it is ready.
    NotReady = 8,
    /// The monitor has been stopped.
    Stopped = 9,
    /// The component failed again and again, and the monitor has ended.
    GaveUp = 10,
    /// Nobody waits for this exchange any more: it was answered, canceled, or never was.
    NotWaiting = 11,
    /// The call waits for the library's thread, and that is the caller's: it was called
    /// from within a callback.
    WouldDeadlock = 12,
    /// The library was built without what this needs.
    NotBuilt = 13,
    /// The system refused something, such as a thread.
    System = 14,
    /// There is a fault in the library. Its handle can only be freed from now on.
    Panicked = 15,
}

/// Why a call did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) code: Code,
    pub(crate) text: String,
}

pub(crate) type Outcome<T = ()> = Result<T, Failed>;

impl Failed {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::new(Code::BadArgument, text)
    }

    pub(crate) fn stopped() -> Self {
        Self::new(Code::Stopped, "the monitor has been stopped")
    }

    /// What the feature `feature` would have done.
    #[cfg(not(all(feature = "embedded", feature = "fetch", feature = "file-cache")))]
    pub(crate) fn not_built(feature: &str) -> Self {
        let text = format!("this library was built without the feature `{feature}`");
        Self::new(Code::NotBuilt, text)
    }

    fn panicked(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let said = said.unwrap_or("it did not say why");
        Self::new(Code::Panicked, format!("a fault in the library: {said}"))
    }
}

/// Does `work` for a caller in C: no panic goes further, and what went wrong becomes a
/// code, with words in `message` if that is not NULL.
pub(crate) unsafe fn cross(message: *mut *mut c_char, work: impl FnOnce() -> Outcome) -> Code {
    let outcome =
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failed::panicked(&*panic)));
    let (code, text) = match outcome {
        Ok(()) => (Code::Ok, None),
        Err(failed) => (failed.code, Some(failed.text)),
    };
    // SAFETY: the caller of this function passes on what C gave for it.
    unsafe { put(message, text.map_or(std::ptr::null_mut(), into_c)) };
    code
}

/// Writes `value` where `place` points, unless that is NULL.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: by the one rule of the interface, what is not NULL can be written to.
        unsafe { place.write(value) };
    }
}

/// A text of C's, for as long as the call.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Outcome<&'a str> {
    // SAFETY: the caller passes on what C gave.
    let text = unsafe { optional_text(pointer, name) }?;
    text.ok_or_else(|| Failed::argument(format!("`{name}` is NULL")))
}

/// The same, where NULL stands for nothing.
pub(crate) unsafe fn optional_text<'a>(
    pointer: *const c_char,
    name: &str,
) -> Outcome<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the one rule of the interface, a text ends with a NUL and stays until the
    // call returns.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    let text = text.map_err(|error| Failed::argument(format!("`{name}` is not UTF-8: {error}")))?;
    Ok(Some(text))
}

/// So many things of C's, for as long as the call. NULL stands for none.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Outcome<&'a [T]> {
    match (pointer.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failed::argument(format!("`{name}` is NULL"))),
        // SAFETY: by the one rule of the interface, there are as many as the length says.
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, length) }),
    }
}

/// What a pointer of C's points to, for as long as the call.
pub(crate) unsafe fn thing<'a, T>(pointer: *const T, name: &str) -> Outcome<&'a T> {
    // SAFETY: by the one rule of the interface, it is NULL or points to such a thing.
    let thing = unsafe { pointer.as_ref() };
    thing.ok_or_else(|| Failed::argument(format!("`{name}` is NULL")))
}

/// A text that C must give back to `outwatch_text_free`.
pub(crate) fn into_c(text: String) -> *mut c_char {
    c_text(text).into_raw()
}

/// A text as C has them: a NUL would end it, so there is none in it.
pub(crate) fn c_text(text: impl Into<String>) -> CString {
    let mut bytes = text.into().into_bytes();
    bytes.retain(|&byte| byte != 0);
    CString::new(bytes).unwrap_or_default()
}

/// An error with what caused it.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// Frees a text that the library gave. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: by the one rule of the interface, it came from `into_c` and was not freed.
        drop(unsafe { CString::from_raw(text) });
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn no_panic_crosses_the_border_and_its_words_do() {
        let mut message = ptr::null_mut();
        // SAFETY: `message` can be written to.
        let code = unsafe { cross(&raw mut message, || panic!("no {}", "way")) };
        assert_eq!(code, Code::Panicked);
        // SAFETY: it is a text of the library's.
        let said = unsafe { text(message, "message") }.map(str::to_owned);
        assert_eq!(said.ok().as_deref(), Some("a fault in the library: no way"));
        // SAFETY: it is freed once.
        unsafe { outwatch_text_free(message) };
    }

    #[test]
    fn a_message_that_nobody_wants_is_not_made() {
        // SAFETY: NULL is allowed.
        let code = unsafe { cross(ptr::null_mut(), || Err(Failed::stopped())) };
        assert_eq!(code, Code::Stopped);
    }

    #[test]
    fn a_call_that_went_well_leaves_no_old_message() {
        let mut message = ptr::dangling_mut();
        // SAFETY: `message` can be written to.
        let code = unsafe { cross(&raw mut message, || Ok(())) };
        assert_eq!((code, message), (Code::Ok, ptr::null_mut()));
    }

    #[test]
    fn a_text_that_is_not_utf8_is_refused_by_name() {
        // SAFETY: it ends with a NUL.
        let refused = unsafe { text(c"\xff".as_ptr(), "tag") }.unwrap_err();
        assert_eq!(refused.code, Code::BadArgument);
        assert!(
            refused.text.starts_with("`tag` is not UTF-8"),
            "{}",
            refused.text
        );
    }

    #[test]
    fn a_nul_inside_of_a_text_is_left_out() {
        assert_eq!(c_text("a\0b").as_c_str(), c"ab");
    }
}
