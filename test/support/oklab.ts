/** A colour as its shares of red, green and blue in linear light, 0 to 1. */
export type LinearRgb = readonly [number, number, number];

/** Returns the linear shares of a colour of sRGB, whose channels are 0 to 255. */
export function linearRgb(channels: readonly [number, number, number]): LinearRgb {
  return channels.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as LinearRgb;
}

/** Returns a colour in OKLab, times 100: lightness, green to red, blue to yellow. Distances in it are as large as an eye sees them. */
export function oklab([r, g, blue]: LinearRgb): LinearRgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * blue);
  return [
    100 * (0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s),
    100 * (1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s),
    100 * (0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s),
  ];
}

/** Returns the distance of two colours in OKLab. */
export function distance(a: LinearRgb, b: LinearRgb): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
