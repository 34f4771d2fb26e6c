import { Counter, Gauge, type OpenMetricsContentType, type Registry } from 'prom-client';

export class StorageMetrics {
  readonly copies: Counter<'outcome'>;
  readonly checks: Counter<'outcome'>;
  readonly restores: Counter<'outcome'>;
  readonly removed: Counter;
  readonly readsWithoutCopy: Counter;
  readonly missing: Gauge;
  readonly unknown: Gauge;

  constructor(registry: Registry<OpenMetricsContentType>) {
    const registers = [registry];
    this.copies = new Counter({
      name: 'storage_copies_total',
      help: 'Attempts to copy a file to its backup, by what became of them.',
      labelNames: ['outcome'],
      registers,
    });
    this.checks = new Counter({
      name: 'storage_copy_checks_total',
      help: 'Copies that were read again: equal to their file, or different.',
      labelNames: ['outcome'],
      registers,
    });
    this.restores = new Counter({
      name: 'storage_restores_total',
      help: 'Files that were to be restored from their copies, by what became of them.',
      labelNames: ['outcome'],
      registers,
    });
    this.removed = new Counter({
      name: 'storage_removed_total',
      help: 'Files whose bytes and copies were deleted.',
      registers,
    });
    this.readsWithoutCopy = new Counter({
      name: 'storage_reads_without_copy_total',
      help: 'Reads from the source while readfrombackup is on, because the file has no verified copy.',
      registers,
    });
    this.missing = new Gauge({
      name: 'storage_missing_objects',
      help: 'Files that the last audit did not find and could not restore.',
      registers,
    });
    this.unknown = new Gauge({
      name: 'storage_unknown_objects',
      help: 'Stored objects that the last audit found and no row names.',
      registers,
    });
  }
}
