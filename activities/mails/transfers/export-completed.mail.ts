import { localInstant, localNumber } from '#entities/kit/base/localized.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import { export as exportKind } from '#entities/transfers/export.ts';
import { defineNotification } from '../define-notification.ts';

export const exportCompleted = defineNotification(exportKind, 'completed', {
  listener: 'notify-export-ready',
  description: 'who asked for an export: its file is ready',
  audience: ({ record: { requestorId: userId } }) => (userId === null ? [] : [{ userId }]),
  tellsActor: true,
  text: {
    title: 'Your export is ready',
    body: ['Kind: {{kind}}, format: {{format}}, records: {{rows}}.', 'It can be downloaded until {{until}}.'],
    many: '{{count}} exports are ready',
  },
  values:
    ({ record, event: { payload } }) =>
    (locale) => ({
      kind: inWords(record.recordKind),
      format: record.format,
      rows: localNumber(payload.rows, locale),
      until: record.expiresAt === null ? '' : localInstant(record.expiresAt, locale),
    }),
  sample: { kind: 'task', format: 'csv', rows: '1,200', until: 'June 1, 2026 at 5:00 PM UTC' },
  link: ({ id }) => `/exports/${id}`,
  unsubscribesFrom: 'exports that are ready',
});
