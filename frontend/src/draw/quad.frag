#version 300 es
precision highp float;
precision highp int;

in vec2 at;
flat in vec4 colour;
flat in uint paint;
flat in float height_px;

uniform float ratio;

out vec4 fragment;

const uint INSTANT = 1u;
const uint UNFINISHED = 2u;
const uint VALUE = 4u;
const uint RANGE = 5u;
const uint WAIT = 7u;
const uint WAIT_CELL = 8u;
// How solid the right end of an unfinished slice is, the area below a counter's line, and a range.
const float FADED = 0.15;
const float AREA = 0.35;
const float EXTENT = 0.6;
// Hatching of waits: distance and thickness of its lines in CSS pixels, and how solid they are.
const float HATCH = 4.0;
const float HATCH_LINE = 2.0;
const float HATCHED = 0.9;
// Thickness of a counter's line in CSS pixels.
const float LINE = 1.75;

void main() {
    float alpha = colour.a;
    vec3 rgb = colour.rgb;
    if (paint == INSTANT) {
        float distance = abs(at.x - 0.5) + abs(at.y - 0.5);
        if (distance > 0.5) discard;
        // A darker rim sets it off from the slice that it stands on.
        if (distance > 0.34) rgb *= 0.45;
    } else if (paint == UNFINISHED) {
        alpha *= mix(1.0, FADED, at.x);
    } else if (paint == VALUE) {
        alpha *= at.y * height_px < LINE * ratio ? 1.0 : AREA;
    } else if (paint == RANGE) {
        alpha *= EXTENT;
    } else if (paint == WAIT || paint == WAIT_CELL) {
        float across = mod(gl_FragCoord.x - gl_FragCoord.y, HATCH * ratio);
        alpha *= across < HATCH_LINE * ratio ? HATCHED : 0.0;
    }
    fragment = vec4(rgb * alpha, alpha);
}
