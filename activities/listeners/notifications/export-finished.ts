import { export as exportKind } from '#entities/transfers/export.ts';
import { defineNotification } from './define-notification.ts';

const audience = ({ record }: { readonly record: { readonly requestorId: string | null } }) =>
  record.requestorId === null ? [] : [record.requestorId];
const link = ({ id }: { readonly id: string }) => `/exports/${id}`;

export const exportReady = defineNotification(exportKind, 'completed', {
  listener: 'notify-export-ready',
  audience,
  tellsActor: true,
  text: { title: 'An export is ready', body: '{{rows}} records of the kind {{kind}} ({{format}})' },
  values: ({ record, payload }) => ({
    kind: record.recordKind,
    format: record.format,
    rows: String(payload.rows),
  }),
  sample: { kind: 'task', format: 'csv', rows: '120' },
  link,
  channels: ['email'],
});

export const exportFailed = defineNotification(exportKind, 'failed', {
  listener: 'notify-export-failed',
  audience,
  tellsActor: true,
  text: { title: 'An export has failed', body: 'Records of the kind {{kind}} ({{format}}): {{code}}' },
  values: ({ record, payload }) => ({ kind: record.recordKind, format: record.format, code: payload.code }),
  sample: { kind: 'task', format: 'csv', code: 'limit_exceeded' },
  link,
  channels: ['email'],
});
