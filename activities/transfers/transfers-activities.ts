import { Context } from '@temporalio/activity';
import { defineActivities } from '../kit/activity-dependencies.ts';
import { export as exportKind, import as importKind } from '#entities/index.ts';
import { storeExport, writeExportPages, type ExportWork } from './write-export.ts';
import { checkImport, ImportWork, writeImport } from './write-import.ts';
import { TransferWork, type Transfer, type TransferDependencies } from './transfer-work.ts';

export type TransfersActivities = ReturnType<typeof createTransfersActivities>;

/** Exports and imports. Activities that return whether the work continues return false when it was cancelled, deleted or refused. */
export const createTransfersActivities = defineActivities((dependencies: TransferDependencies) => {
  const exporting: ExportWork = new TransferWork(dependencies, exportKind);
  const importing = new ImportWork(dependencies, importKind);
  /** Ends work that is under way when the activity is cancelled, for example because the worker stops. */
  const signal = () => Context.current().cancellationSignal;
  return {
    beginExport: (transfer: Transfer): Promise<boolean> => exporting.begin(transfer),
    writeExportPages: (transfer: Transfer): Promise<boolean> =>
      exporting.part(transfer, () => writeExportPages(exporting, transfer, signal())),
    storeExport: (transfer: Transfer): Promise<boolean> =>
      exporting.part(transfer, () => storeExport(exporting, transfer)),
    failExport: (transfer: Transfer): Promise<void> => exporting.fail(transfer),

    beginImport: (transfer: Transfer): Promise<boolean> => importing.begin(transfer),
    checkImport: (transfer: Transfer): Promise<boolean> =>
      importing.part(transfer, () => checkImport(importing, transfer, signal())),
    writeImport: (transfer: Transfer): Promise<boolean> =>
      importing.part(transfer, () => writeImport(importing, transfer, signal())),
    failImport: (transfer: Transfer): Promise<void> => importing.fail(transfer),
  };
});
