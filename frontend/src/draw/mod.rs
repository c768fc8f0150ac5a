//! From tiles to pixels. The picture is a value first ([`scene::Quads`], [`label::Label`],
//! [`batch::Batch`]), which tests can read. The canvases only draw it.

pub mod arrow;
pub mod band;
pub mod batch;
pub mod density;
pub mod finding_box;
pub mod front;
mod heat;
pub mod instance;
pub mod label;
pub mod light_band;
mod load;
pub mod names;
pub mod palette;
pub mod path_line;
pub mod path_veil;
pub mod rectangle;
pub mod scene;
pub mod shape;
pub mod strip;
pub mod surface;
pub mod transfer;
pub mod values;
pub mod wait_band;

#[cfg(feature = "browser")]
mod box_pen;
#[cfg(feature = "browser")]
pub mod canvas_2d;
#[cfg(feature = "browser")]
mod light_pen;
#[cfg(feature = "browser")]
pub mod lit_rows;
#[cfg(feature = "browser")]
pub mod overlay;
#[cfg(feature = "browser")]
pub mod painter;
#[cfg(feature = "browser")]
mod path_pen;
#[cfg(feature = "browser")]
pub mod webgl;
