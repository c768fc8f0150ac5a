//! JSON as traces write it: tokens over bytes in memory.

#[cfg_attr(
    not(feature = "read"),
    expect(dead_code, reason = "the format is recognised from a part of the file")
)]
pub(crate) mod digits;
#[cfg_attr(
    not(feature = "read"),
    expect(dead_code, reason = "the format is recognised from a part of the file")
)]
pub(crate) mod tokens;
