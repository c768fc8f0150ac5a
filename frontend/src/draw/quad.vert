#version 300 es
// A rectangle of the timeline; see batch.rs for what an instance means. rectangle.rs has the same
// rules for canvases without a graphics card.
precision highp float;
precision highp int;
precision highp sampler2D;

layout(location = 0) in vec4 extent; // start and end in cells, low and high as shares of the lane
layout(location = 1) in uvec2 look;  // lane; number of the colour, alpha and paint

uniform vec2 canvas_px; // in pixels of the screen, as offset_px and cell_px
uniform float offset_px;
uniform float cell_px;
uniform float scroll_px; // in CSS pixels, as the bands
uniform float ratio;
uniform sampler2D bands;
uniform sampler2D palette;

out vec2 at;
flat out vec4 colour;
flat out uint paint;
flat out float height_px;

const uint SLICE = 0u;
const uint INSTANT = 1u;
const uint UNFINISHED = 2u;
const uint CELL = 3u;
const uint VALUE = 4u;
const uint RANGE = 5u;
const uint TICK = 6u;
const uint WAIT = 7u;
const uint WAIT_CELL = 8u;
// Half of a diamond's width, the free pixel at a slice's end, and how wide a slice must be to spare it: CSS pixels.
const float DIAMOND = 5.0;
const float GAP = 1.0;
const float WIDE = 4.0;
// The least height of a cell.
const float LEAST_CELL = 2.0;

void main() {
    vec2 band = texelFetch(bands, ivec2(int(look.x & 1023u), int(look.x >> 10)), 0).xy;
    if (band.y <= 0.0) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    paint = look.y >> 24;
    float left = floor(extent.x * cell_px + offset_px + 0.5);
    float right = floor(extent.y * cell_px + offset_px + 0.5);
    float bottom = floor((band.x + band.y - scroll_px) * ratio + 0.5);
    float lane_px = floor(band.y * ratio + 0.5);
    float top = bottom - floor(extent.w * lane_px + 0.5);
    bottom -= floor(extent.z * lane_px + 0.5);
    if (paint == INSTANT) {
        float half_px = floor(DIAMOND * ratio);
        right = left + half_px + 1.0;
        left -= half_px;
        float inset = max(0.0, floor((lane_px - 2.0 * DIAMOND * ratio - 1.0) / 2.0));
        top += inset;
        bottom -= inset;
    } else {
        bool is_bar = paint == SLICE || paint == UNFINISHED || paint == WAIT;
        if (is_bar && right - left >= WIDE * ratio) right -= floor(GAP * ratio);
        // Nothing vanishes: at least a pixel of the screen, and so high that it is seen.
        right = max(right, left + (paint == TICK ? max(1.0, floor(ratio)) : 1.0));
        float least = paint == CELL ? floor(LEAST_CELL * ratio + 0.5) : paint == VALUE || paint == RANGE ? floor(1.5 * ratio) : 0.0;
        if (paint != WAIT_CELL) least = max(least, 1.0);
        top = min(top, bottom - least);
    }
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    vec2 px = vec2(mix(left, right, corner.x), mix(top, bottom, corner.y));
    gl_Position = vec4(px.x / canvas_px.x * 2.0 - 1.0, 1.0 - px.y / canvas_px.y * 2.0, 0.0, 1.0);
    at = corner;
    height_px = bottom - top;
    int number = int(look.y & 65535u);
    vec3 rgb = texelFetch(palette, ivec2(number & 63, number >> 6), 0).rgb;
    colour = vec4(rgb, float((look.y >> 16) & 255u) / 255.0);
}
