import { inWords } from '#entities/kit/base/snake-case.ts';
import { export as exportKind } from '#entities/transfers/export.ts';
import { defineNotification } from '../define-notification.ts';

export const exportFailed = defineNotification(exportKind, 'failed', {
  listener: 'notify-export-failed',
  description: 'who asked for an export: it failed',
  audience: ({ record: { requestorId: userId } }) => (userId === null ? [] : [{ userId }]),
  tellsActor: true,
  text: {
    title: 'Your export has failed',
    body: ['Kind: {{kind}}, format: {{format}}.', 'Error: {{code}}'],
    many: '{{count}} exports have failed',
  },
  values: ({ record, event: { payload } }) => {
    const values = { kind: inWords(record.recordKind), format: record.format, code: payload.code };
    return () => values;
  },
  sample: { kind: 'task', format: 'csv', code: 'limit_exceeded' },
  link: ({ id }) => `/exports/${id}`,
  unsubscribesFrom: 'exports that have failed',
});
