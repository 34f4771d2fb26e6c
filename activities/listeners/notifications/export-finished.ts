import { localInstant, localNumber } from '#entities/kit/base/localized.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import { export as exportKind } from '#entities/transfers/export.ts';
import { defineNotification } from './define-notification.ts';

const audience = ({ record }: { readonly record: { readonly requestorId: string | null } }) =>
  record.requestorId === null ? [] : [record.requestorId];
const link = ({ id }: { readonly id: string }) => `/exports/${id}`;

export const exportReady = defineNotification(exportKind, 'completed', {
  listener: 'notify-export-ready',
  audience,
  tellsActor: true,
  text: {
    title: 'Your export is ready',
    body: ['Kind: {{kind}}, format: {{format}}, records: {{rows}}.', 'It can be downloaded until {{until}}.'],
    many: '{{count}} exports are ready',
  },
  values:
    ({ record, payload }) =>
    (locale) => ({
      kind: inWords(record.recordKind),
      format: record.format,
      rows: localNumber(payload.rows, locale),
      until: record.expiresAt === null ? '' : localInstant(record.expiresAt, locale),
    }),
  sample: { kind: 'task', format: 'csv', rows: '1,200', until: 'June 1, 2026 at 5:00 PM UTC' },
  link,
  channels: ['email'],
});

export const exportFailed = defineNotification(exportKind, 'failed', {
  listener: 'notify-export-failed',
  audience,
  tellsActor: true,
  text: {
    title: 'Your export has failed',
    body: ['Kind: {{kind}}, format: {{format}}.', 'Error: {{code}}'],
    many: '{{count}} exports have failed',
  },
  values: ({ record, payload }) => {
    const values = { kind: inWords(record.recordKind), format: record.format, code: payload.code };
    return () => values;
  },
  sample: { kind: 'task', format: 'csv', code: 'limit_exceeded' },
  link,
  channels: ['email'],
});
