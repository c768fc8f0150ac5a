//! JSON as traces write it: tokens over bytes in memory.

#[cfg_attr(not(feature = "read"), expect(dead_code, reason = "recognising needs only a part of it"))]
pub(crate) mod digits;
#[cfg_attr(not(feature = "read"), expect(dead_code, reason = "recognising needs only a part of it"))]
pub(crate) mod tokens;
