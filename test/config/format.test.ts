import { describe, expect, test } from 'vitest';
import { mailAddress } from '#config/objects/mail-formats.ts';
import {
  color,
  cron,
  emailSender,
  hostAndPort,
  instant,
  parseListenAddress,
  parseSocketPath,
  parseTemporalUrl,
  urlOrPath,
  webOrigin,
} from '#config/schema/format.ts';

describe('parseSocketPath', () => {
  test.each(['', 'unix:', 'unix:a', 'unix:/', 'unix:/a/', '/a', 'unix://', `unix:/${'a'.repeat(103)}`, 'http:/a'])(
    'refuses %j',
    (text) => {
      expect(parseSocketPath(text)).toBeUndefined();
    },
  );

  test('accepts an absolute path after unix:', () => {
    expect(parseSocketPath('unix:/run/core/api.sock')).toBe('/run/core/api.sock');
    expect(parseListenAddress('unix:/run/core/api.sock')).toBeUndefined();
  });
});

describe('parseListenAddress', () => {
  test.each([
    '',
    '17608',
    'localhost',
    ':',
    ':x',
    ':65536',
    ':-1',
    '1.2.3:80',
    '1.2.3.4.5:80',
    '::1:80',
    '[::1]',
    '[::1]:',
    '[1.2.3.4]:80',
    'a b:80',
    '-a:80',
    ':80 ',
    'http://a:80',
    'a:80/b',
  ])('refuses %j', (text) => {
    expect(parseListenAddress(text)).toBeUndefined();
  });

  test('accepts :port, host:port and [v6]:port', () => {
    expect(parseListenAddress(':17608')).toEqual({ host: undefined, port: 17_608 });
    expect(parseListenAddress(':0')).toEqual({ host: undefined, port: 0 });
    expect(parseListenAddress('127.0.0.1:80')).toEqual({ host: '127.0.0.1', port: 80 });
    expect(parseListenAddress('core_api.internal:65535')).toEqual({ host: 'core_api.internal', port: 65_535 });
    expect(parseListenAddress('[::1]:80')).toEqual({ host: '::1', port: 80 });
  });
});

describe('parseTemporalUrl', () => {
  test.each([
    '',
    '127.0.0.1:7233',
    'temporal://127.0.0.1/default',
    'temporal://:7233/default',
    'temporal://a:0/default',
    'temporal://a:1/',
    'temporal://a:1/b/c',
    'temporal://a:1/b?c',
    'temporal://u@a:1/b',
    'grpc://a:1/b',
  ])('refuses %j', (text) => {
    expect(parseTemporalUrl(text)).toBeUndefined();
  });

  test('gives address and namespace', () => {
    expect(parseTemporalUrl('temporal://127.0.0.1:7233/default')).toEqual({
      address: '127.0.0.1:7233',
      namespace: 'default',
    });
    expect(parseTemporalUrl('temporal://[::1]:7233/my.name-space')).toEqual({
      address: '[::1]:7233',
      namespace: 'my.name-space',
    });
  });
});

describe('forms', () => {
  test.each([
    [hostAndPort, ['localhost:6379', '[::1]:6379'], [':6379', 'localhost', 'localhost:0', 'redis://a:1']],
    [
      urlOrPath,
      ['/v1/x', 'https://a.example/x'],
      ['//evil.example', '/a b', '/\\evil.example', 'javascript:alert(1)', 'x'],
    ],
    [
      webOrigin,
      ['*', 'https://a.example', 'http://localhost:3001'],
      ['https://a.example/', 'https://a.example/x', 'a.example', 'null', 'https://A.example'],
    ],
    [
      mailAddress,
      ['a@b.example', 'a.b+c@localhost', ' A@Bücher.example '],
      ['a', '@b', 'a@', 'a@b@c', 'a b@c', 'a@b\r\nBcc: c@d', '<a@b>'],
    ],
    [emailSender, ['a@b.example', 'Core <a@b.example>'], ['Core <a@b', 'Core a@b', 'Core <a@b>\nBcc: c@d', '<<a@b>>']],
    [color, ['#fff', '#14171E'], ['fff', '#ffff', 'red', '#fff;x', 'url(x)']],
    [
      instant,
      ['2030-01-31T12:00:00Z', '2030-01-31T12:00:00.5+02:00'],
      ['2030-01-31', '2030-13-31T12:00:00Z', 'now', '2030-01-31T12:00:00'],
    ],
    [
      cron,
      ['0 3 * * *', '*/5 1-3 1,15 JAN MON', '@daily'],
      [
        '* * * *',
        '* * * * * *',
        'daily',
        '@never',
        '',
        '99 3 * * *',
        'foo * * * *',
        '5-1 * * * *',
        '*/0 * * * *',
        '* * 0 * *',
      ],
    ],
  ] as const)('$0.name', (form, right, wrong) => {
    for (const text of right) expect(form.check(text), text).toBeUndefined();
    for (const text of wrong) expect(form.check(text), text).toMatch(/^(?:is|does|contains|names) /u);
  });
});
