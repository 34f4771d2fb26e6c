import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contrast, readable } from '#api/pages/contrast.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#fff', '#ffffff')).toBeCloseTo(1);
  // The grey that is just enough on white, and the first that is not.
  expect(contrast('#767676', '#ffffff')).toBeGreaterThanOrEqual(4.5);
  expect(contrast('#777777', '#ffffff')).toBeLessThan(4.5);
});

test('whatever colours are configured, text can be read on them', () => {
  fc.assert(
    fc.property(color, color, (text, background) => contrast(readable(text, background), background) >= 4.5),
    { numRuns: 2_000 },
  );
});

test('a colour that can be read stays, and another one keeps its tone', () => {
  expect(readable('#14171e', '#ffffff')).toBe('#14171e');
  expect(readable('#ffd400', '#ffffff')).toBe('#8c7500');
  expect(readable('#333333', '#000000')).toBe('#7a7a7a');
});
