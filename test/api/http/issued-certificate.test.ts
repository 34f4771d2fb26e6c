// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { expect, test } from 'vitest';
import { checkedCertificate } from '#api/http/tls/issued-certificate.ts';
import { earliestNextOrder, pauseAfter, renewalTime } from '#api/http/tls/renewal-time.ts';
import { testCertificate } from '../../kit/servers/certificates.ts';

const day = 86_400_000;
const now = new Date();
const issued = testCertificate();
test.each([
  [
    'another name',
    issued,
    { name: 'api.example.test', now },
    `is for DNS:localhost, IP Address:127.0.0.1, not for api.example.test`,
  ],
  ['the past', issued, { name: 'localhost', now: new Date(now.getTime() + 2 * day) }, 'has expired ('],
  ['the future', issued, { name: 'localhost', now: new Date(now.getTime() - 3 * day) }, 'is valid only from '],
  ['a part of a name', issued, { name: 'a.localhost', now }, 'not for a.localhost'],
])('a certificate for %s is refused', (_what, certificate, ordered, reason) => {
  expect(() => checkedCertificate(certificate, ordered)).toThrow(reason);
  expect(checkedCertificate(issued, { name: 'localhost', now }).cert).toBe(issued.cert);
});

test('a certificate for another key is refused', () => {
  const other = { ...issued, key: testCertificate().key };
  expect(() => checkedCertificate(other, { name: 'localhost', now })).toThrow(
    'is for another key than the one that was sent',
  );
});

test('a certificate is renewed when a third of its lifetime is left, and not twice at once', () => {
  const of = { validFrom: now, expiresAt: new Date(now.getTime() + 90 * day) };
  expect(renewalTime(of)).toEqual(new Date(now.getTime() + 60 * day));
  expect(earliestNextOrder(of, new Date(now.getTime() + 60 * day))).toEqual(new Date(now.getTime() + 75 * day));
  expect(earliestNextOrder(of, new Date(now.getTime() + 100 * day))).toEqual(new Date(now.getTime() + 100 * day));
});

test('pauses grow up to a limit, and are as long as the authority asks', () => {
  const refused = { isTemporary: false, retryAfterMs: undefined };
  expect([1, 2, 3, 10, 1_000].map((failed) => pauseAfter(failed, refused) / 60_000)).toEqual([2, 4, 8, 720, 720]);
  const away = { isTemporary: true, retryAfterMs: undefined };
  expect([1, 2, 3, 20].map((failed) => pauseAfter(failed, away) / 1_000)).toEqual([5, 10, 20, 3_600]);
  expect(pauseAfter(1, { isTemporary: true, retryAfterMs: 60_000 })).toBe(60_000);
  expect(pauseAfter(9, { isTemporary: true, retryAfterMs: 1 })).toBe(1_280_000);
});
