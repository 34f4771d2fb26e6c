import { export as exportKind, import as importKind } from '#entities/index.ts';
import { exportRecordsContract } from '#workflows/transfers/export-records.contract.ts';
import { importRecordsContract } from '#workflows/transfers/import-records.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** Starts a run for each new export, and for each that is started again. The first run that claims the work does it. */
export const startExport = defineListener(
  'start-export',
  [on(exportKind, 'created'), on(exportKind, 'restarted')],
  ({ event, start }) => start(exportRecordsContract, { id: event.entityId, runId: event.id }),
);

export const startImport = defineListener(
  'start-import',
  [on(importKind, 'created'), on(importKind, 'restarted')],
  ({ event, start }) => start(importRecordsContract, { id: event.entityId, runId: event.id }),
);
