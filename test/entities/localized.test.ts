import { expect, test } from 'vitest';
import { localInstant } from '#entities/kit/base/localized.ts';

const at = new Date('2026-06-01T12:00:00Z');

test('an instant is written in its time zone, and in UTC when the server does not know the zone', () => {
  expect(localInstant(at, { language: 'en', timeZone: 'Asia/Tokyo' })).toBe('June 1, 2026 at 9:00 PM GMT+9');
  for (const timeZone of ['Mars/Olympus', '', 'not a zone'])
    expect(localInstant(at, { language: 'en', timeZone })).toBe('June 1, 2026 at 12:00 PM UTC');
});
