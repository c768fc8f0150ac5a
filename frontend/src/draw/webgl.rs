//! Draws rectangles with WebGL2. Each tile is uploaded once, then drawn for any window with a few
//! changed numbers.
//!
//! When a context is lost, all of its objects are created again from the tiles.

use std::collections::HashMap;
use std::ops::Range;

use js_sys::{Float32Array, Uint8Array};
use wasm_bindgen::JsCast;
use web_sys::{
    HtmlCanvasElement, WebGl2RenderingContext as Gl, WebGlBuffer, WebGlProgram, WebGlShader, WebGlTexture,
    WebGlUniformLocation,
};
use zerocopy::IntoBytes;

use super::batch::Batch;
use super::instance::Instance;
use super::palette::{self, COLOURS, Ground};
use super::scene::Quads;
use super::shape::Band;
use super::surface::Surface;
use crate::fetch::TileKey;
use crate::view::rows::layout::sight::Area;

/// Bytes of an instance.
const STRIDE: i32 = size_of::<Instance>() as i32;
/// Byte offset of an instance's two integers, after its four floats.
const LOOK_AT: i32 = 4 * size_of::<f32>() as i32;
/// Number of lanes in a row of the lane texture.
const BANDS_WIDTH: usize = 1024;
/// Number of colours in a row of the palette's texture. The shader has the same number.
const PALETTE_WIDTH: usize = 64;
/// The texture units of the lanes and of the palette.
const BANDS_UNIT: u32 = 0;
const PALETTE_UNIT: u32 = 1;
/// Corners of a rectangle, as a strip of two triangles.
const CORNERS: i32 = 4;

const VERTEX: &str = include_str!("quad.vert");
const FRAGMENT: &str = include_str!("quad.frag");

/// Reason why WebGL2 cannot draw, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoWebGl(pub String);

/// The canvas with all uploaded tiles.
#[derive(Debug)]
pub struct CardPainter {
    gl: Gl,
    program: WebGlProgram,
    uniforms: Uniforms,
    buffers: HashMap<TileKey, WebGlBuffer>,
    /// Buffer for rectangles that change with each frame.
    loose: Option<WebGlBuffer>,
    bands: Option<WebGlTexture>,
    palette: Option<WebGlTexture>,
    /// Background of the current palette.
    palette_of: Option<Ground>,
}

#[derive(Debug)]
struct Uniforms {
    canvas: Option<WebGlUniformLocation>,
    offset: Option<WebGlUniformLocation>,
    cell: Option<WebGlUniformLocation>,
    scroll: Option<WebGlUniformLocation>,
    ratio: Option<WebGlUniformLocation>,
    palette: Option<WebGlUniformLocation>,
    bands: Option<WebGlUniformLocation>,
}

impl CardPainter {
    /// Prepares a canvas. Called again after its context was lost and restored.
    ///
    /// # Errors
    /// If the browser has no WebGL2 or refuses the shaders.
    pub fn new(canvas: &HtmlCanvasElement) -> Result<Self, NoWebGl> {
        let missing = || NoWebGl("This browser has no WebGL2, which the timeline is drawn with".to_owned());
        let context = canvas.get_context("webgl2").map_err(|_| missing())?.ok_or_else(missing)?;
        let gl: Gl = context.dyn_into().map_err(|_| missing())?;
        let program = program(&gl)?;
        let uniform = |name| gl.get_uniform_location(&program, name);
        let uniforms = Uniforms {
            canvas: uniform("canvas_px"),
            offset: uniform("offset_px"),
            cell: uniform("cell_px"),
            scroll: uniform("scroll_px"),
            ratio: uniform("ratio"),
            palette: uniform("palette"),
            bands: uniform("bands"),
        };
        gl.enable(Gl::BLEND);
        gl.blend_func(Gl::ONE, Gl::ONE_MINUS_SRC_ALPHA);
        gl.enable_vertex_attrib_array(0);
        gl.enable_vertex_attrib_array(1);
        gl.vertex_attrib_divisor(0, 1);
        gl.vertex_attrib_divisor(1, 1);
        let buffers = HashMap::new();
        Ok(Self { gl, program, uniforms, buffers, loose: None, bands: None, palette: None, palette_of: None })
    }

    /// Returns true if a tile was uploaded.
    #[must_use]
    pub fn has(&self, tile: TileKey) -> bool {
        self.buffers.contains_key(&tile)
    }

    /// Uploads a tile's rectangles.
    pub fn upload(&mut self, tile: TileKey, batch: &Batch) {
        let Some(buffer) = self.gl.create_buffer() else { return };
        self.gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&buffer));
        let bytes = batch.instances.as_bytes();
        self.gl.buffer_data_with_u8_array(Gl::ARRAY_BUFFER, bytes, Gl::STATIC_DRAW);
        if let Some(before) = self.buffers.insert(tile, buffer) {
            self.gl.delete_buffer(Some(&before));
        }
    }

    /// Frees a tile's rectangles.
    pub fn drop_tile(&mut self, tile: TileKey) {
        if let Some(buffer) = self.buffers.remove(&tile) {
            self.gl.delete_buffer(Some(&buffer));
        }
    }

    /// Frees all tiles, before another rank is shown.
    pub fn drop_all(&mut self) {
        for (_, buffer) in self.buffers.drain() {
            self.gl.delete_buffer(Some(&buffer));
        }
    }

    /// Sets the positions of the lanes. Needed after each change of the layout.
    pub fn set_bands(&mut self, bands: &[Band]) {
        let gl = &self.gl;
        let rows = bands.len().div_ceil(BANDS_WIDTH).max(1);
        let mut values = vec![0.0_f32; rows * BANDS_WIDTH * 2];
        for (pair, band) in values.chunks_exact_mut(2).zip(bands) {
            pair.copy_from_slice(&[band.top_px, band.height_px]);
        }
        if self.bands.is_none() {
            self.bands = gl.create_texture();
        }
        bind(gl, BANDS_UNIT, self.bands.as_ref());
        let values = Float32Array::from(values.as_slice());
        // Fails only if the array is too short.
        gl.tex_image_2d_with_i32_and_i32_and_i32_and_format_and_type_and_opt_array_buffer_view(
            Gl::TEXTURE_2D,
            0,
            Gl::RG32F as i32,
            BANDS_WIDTH as i32,
            rows as i32,
            0,
            Gl::RG,
            Gl::FLOAT,
            Some(&values),
        )
        .ok();
    }

    /// Sets the colours of a background. Does nothing if they are already set.
    pub fn set_palette(&mut self, ground: Ground) {
        if self.palette_of == Some(ground) {
            return;
        }
        let gl = &self.gl;
        let rows = COLOURS.div_ceil(PALETTE_WIDTH);
        let mut values = vec![0_u8; rows * PALETTE_WIDTH * 4];
        for (texel, colour) in values.chunks_exact_mut(4).zip(palette::colours(ground)) {
            texel[..3].copy_from_slice(&colour);
        }
        if self.palette.is_none() {
            self.palette = gl.create_texture();
        }
        bind(gl, PALETTE_UNIT, self.palette.as_ref());
        let values = Uint8Array::from(values.as_slice());
        // Fails only if the array is too short.
        gl.tex_image_2d_with_i32_and_i32_and_i32_and_format_and_type_and_opt_array_buffer_view(
            Gl::TEXTURE_2D,
            0,
            Gl::RGBA8 as i32,
            PALETTE_WIDTH as i32,
            rows as i32,
            0,
            Gl::RGBA,
            Gl::UNSIGNED_BYTE,
            Some(&values),
        )
        .ok();
        self.palette_of = Some(ground);
    }

    /// Begins a frame: clears the canvas and draws the vertical lines.
    pub fn clear(&self, surface: &Surface) {
        let gl = &self.gl;
        let (width, height) = surface.size_px();
        gl.disable(Gl::SCISSOR_TEST);
        gl.viewport(0, 0, width, height);
        gl.clear_color(0.0, 0.0, 0.0, 0.0);
        gl.clear(Gl::COLOR_BUFFER_BIT);
        gl.enable(Gl::SCISSOR_TEST);
        self.draw_lines(surface, height);
    }

    /// Draws the rectangles of tiles in an area.
    pub fn draw(&self, surface: &Surface, area: &Area, all: &[Quads]) {
        if all.is_empty() || self.bands.is_none() {
            return;
        }
        self.set_uniforms(surface, area);
        for quads in all {
            self.draw_quads(quads, surface, area);
        }
    }

    /// Draws rectangles that belong to no tile, above those of the area. Their unit is a pixel of
    /// the screen.
    pub fn draw_loose(&mut self, surface: &Surface, area: &Area, instances: &[Instance]) {
        if instances.is_empty() || self.bands.is_none() {
            return;
        }
        if self.loose.is_none() {
            self.loose = self.gl.create_buffer();
        }
        self.gl.bind_buffer(Gl::ARRAY_BUFFER, self.loose.as_ref());
        self.gl.buffer_data_with_u8_array(Gl::ARRAY_BUFFER, instances.as_bytes(), Gl::STREAM_DRAW);
        self.set_uniforms(surface, area);
        self.cut(surface, area, 0..surface.size_px().0);
        self.gl.uniform1f(self.uniforms.offset.as_ref(), 0.0);
        self.gl.uniform1f(self.uniforms.cell.as_ref(), 1.0);
        self.draw_run(&(0..instances.len() as u32));
    }

    /// Draws nothing outside of an area and of some columns of the screen's pixels.
    fn cut(&self, surface: &Surface, area: &Area, columns: Range<i32>) {
        let (top, foot) = surface.edges_px(area);
        // The graphics card counts from below.
        let (_, height) = surface.size_px();
        let width = (columns.end - columns.start).max(0);
        self.gl.scissor(columns.start, height - foot, width, (foot - top).max(0));
    }

    fn set_uniforms(&self, surface: &Surface, area: &Area) {
        let (gl, (width, height)) = (&self.gl, surface.size_px());
        gl.use_program(Some(&self.program));
        gl.uniform2f(self.uniforms.canvas.as_ref(), width as f32, height as f32);
        gl.uniform1f(self.uniforms.scroll.as_ref(), area.shift_px() as f32);
        gl.uniform1f(self.uniforms.ratio.as_ref(), surface.ratio as f32);
        gl.uniform1i(self.uniforms.bands.as_ref(), BANDS_UNIT as i32);
        gl.uniform1i(self.uniforms.palette.as_ref(), PALETTE_UNIT as i32);
    }

    /// Draws instances of the bound buffer.
    fn draw_run(&self, run: &Range<u32>) {
        let (gl, from) = (&self.gl, run.start as i32 * STRIDE);
        gl.vertex_attrib_pointer_with_i32(0, 4, Gl::FLOAT, false, STRIDE, from);
        gl.vertex_attrib_i_pointer_with_i32(1, 2, Gl::UNSIGNED_INT, STRIDE, from + LOOK_AT);
        gl.draw_arrays_instanced(Gl::TRIANGLE_STRIP, 0, CORNERS, (run.end - run.start) as i32);
    }

    /// Draws the vertical lines. Each is a small part of the canvas, cleared to its colour.
    fn draw_lines(&self, surface: &Surface, height: i32) {
        let [red, green, blue, alpha] = surface.line_premultiplied();
        self.gl.clear_color(red, green, blue, alpha);
        for x_px in &surface.lines_px {
            let thickness = surface.ratio.round().max(1.0) as i32;
            self.gl.scissor((x_px * surface.ratio).round() as i32, 0, thickness, height);
            self.gl.clear(Gl::COLOR_BUFFER_BIT);
        }
    }

    fn draw_quads(&self, quads: &Quads, surface: &Surface, area: &Area) {
        let (gl, ratio) = (&self.gl, surface.ratio);
        let Some(buffer) = self.buffers.get(&quads.tile) else { return };
        let left = (quads.clip_px.0 * ratio).round() as i32;
        let right = (quads.clip_px.1 * ratio).round() as i32;
        self.cut(surface, area, left..right);
        gl.uniform1f(self.uniforms.offset.as_ref(), (quads.offset_px * ratio) as f32);
        gl.uniform1f(self.uniforms.cell.as_ref(), (quads.cell_px * ratio) as f32);
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(buffer));
        for run in &quads.instances {
            self.draw_run(run);
        }
    }
}

/// Binds a texture that is read texel by texel.
fn bind(gl: &Gl, unit: u32, texture: Option<&WebGlTexture>) {
    gl.active_texture(Gl::TEXTURE0 + unit);
    gl.bind_texture(Gl::TEXTURE_2D, texture);
    for (name, value) in [
        (Gl::TEXTURE_MIN_FILTER, Gl::NEAREST),
        (Gl::TEXTURE_MAG_FILTER, Gl::NEAREST),
        (Gl::TEXTURE_WRAP_S, Gl::CLAMP_TO_EDGE),
        (Gl::TEXTURE_WRAP_T, Gl::CLAMP_TO_EDGE),
    ] {
        gl.tex_parameteri(Gl::TEXTURE_2D, name, value as i32);
    }
}

fn program(gl: &Gl) -> Result<WebGlProgram, NoWebGl> {
    let refused = |what: &str, log: Option<String>| {
        NoWebGl(format!("The browser's WebGL2 refuses the timeline's {what}: {}", log.unwrap_or_default()))
    };
    let program = gl.create_program().ok_or_else(|| refused("program", None))?;
    for (kind, source) in [(Gl::VERTEX_SHADER, VERTEX), (Gl::FRAGMENT_SHADER, FRAGMENT)] {
        let shader = gl.create_shader(kind).ok_or_else(|| refused("shader", None))?;
        compile(gl, &shader, source).map_err(|log| refused("shader", log))?;
        gl.attach_shader(&program, &shader);
    }
    gl.link_program(&program);
    if gl.get_program_parameter(&program, Gl::LINK_STATUS).as_bool() == Some(true) {
        Ok(program)
    } else {
        Err(refused("program", gl.get_program_info_log(&program)))
    }
}

fn compile(gl: &Gl, shader: &WebGlShader, source: &str) -> Result<(), Option<String>> {
    gl.shader_source(shader, source);
    gl.compile_shader(shader);
    let is_compiled = gl.get_shader_parameter(shader, Gl::COMPILE_STATUS).as_bool() == Some(true);
    if is_compiled { Ok(()) } else { Err(gl.get_shader_info_log(shader)) }
}
