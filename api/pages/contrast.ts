/** Least contrast of text (WCAG 2.2, success criterion 1.4.3), and of the edges of fields and buttons (1.4.11). */
export const leastContrast = { text: 4.5, edge: 3 } as const;

type Rgb = readonly [red: number, green: number, blue: number];

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];

/** Steps in which a colour moves until it has the contrast. */
const steps = 20;

/** Contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio). @param one as #rgb or #rrggbb, like the other */
export function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(rgbOf(one)), luminance(rgbOf(other))].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/**
 * The colour itself if it has the contrast with the background, else one of the same tone that has: towards black or towards white, where
 * there is more room. Black or white always has 4.5.
 */
export function readable(color: string, background: string, least: number = leastContrast.text): string {
  const end = contrast('#000000', background) > contrast('#ffffff', background) ? black : white;
  for (let step = 0; step < steps; step++) {
    const candidate = hexOf(between(rgbOf(color), end, step / steps));
    if (contrast(candidate, background) >= least) return candidate;
  }
  return hexOf(end);
}

/** A colour between two. @param share of the second, from 0 to 1 */
export function mixed(one: string, other: string, share: number): string {
  return hexOf(between(rgbOf(one), rgbOf(other), share));
}

function between(one: Rgb, other: Rgb, share: number): Rgb {
  const part = (at: 0 | 1 | 2) => Math.round(one[at] + (other[at] - one[at]) * share);
  return [part(0), part(1), part(2)];
}

function rgbOf(color: string): Rgb {
  const digits = color.slice(1);
  const full = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits;
  const part = (at: number) => Number.parseInt(full.slice(at, at + 2), 16);
  return [part(0), part(2), part(4)];
}

function hexOf(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** WCAG 2.2, relative luminance. */
function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
