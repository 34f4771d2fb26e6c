import { expect, test } from 'vitest';
import { emailForm, parseDomain, parseEmail } from '#entities/kit/base/email-address.ts';

test.each([
  ['a@example.com', 'a@example.com', 'example.com'],
  [' \tAnna.B+c@Example.COM\n', 'anna.b+c@example.com', 'example.com'],
  ['a@bücher.example', 'a@xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['a@BU\u0308CHER.example', 'a@xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['a@XN--bcher-KVA.example', 'a@xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['a@例え。テスト', 'a@xn--r8jz45g.xn--zckzah', 'xn--r8jz45g.xn--zckzah'],
  ['a@faß.example', 'a@xn--fa-hia.example', 'xn--fa-hia.example'],
  ['root@localhost', 'root@localhost', 'localhost'],
])('%j is the address %s', (text, address, domain) => {
  expect(parseEmail(text)).toEqual({ local: address.split('@')[0], address, domain });
  expect(emailForm(text)).toBe(address);
});

test.each([
  '',
  'desk.example',
  '@desk.example',
  'a@',
  'a@evil.com@desk.example',
  '"a@evil.com"@desk.example',
  '"a b"@desk.example',
  'a b@desk.example',
  'a@desk.example/evil.com',
  'a@desk.example?x',
  'a@desk.example#x',
  'a@desk.example:80',
  'a@desk％2eexample',
  'a@desk%2eexample',
  'a@desk\u2100example',
  'a@[127.0.0.1]',
  'a@127.0.0.1',
  'a@0x7f.1',
  'a@-a.example',
  'a@a..example',
  'a@a.example.',
  '.a@a.example',
  'a..b@a.example',
  'ä@a.example',
  'Anna <a@a.example>',
  'a@a.example\r\nBcc: b',
  `${'a'.repeat(65)}@a.example`,
  `a@${'a'.repeat(64)}.example`,
])('%j is no address', (text) => {
  expect(parseEmail(text)).toBeUndefined();
});

test('what is no address keeps its signs, and a domain has one form', () => {
  expect(emailForm(' "A b"@X ')).toBe('"a b"@x');
  expect([' Bücher.Example ', 'xn--bcher-kva.example'].map(parseDomain)).toEqual(
    Array(2).fill('xn--bcher-kva.example'),
  );
  expect(['', 'a b', 'a@b', '*.a', 'a/b', '1.2.3.4'].map(parseDomain)).toEqual(Array(6).fill(undefined));
});
