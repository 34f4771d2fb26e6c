/** Fields every record has, whatever its kind. */
export interface RecordFields {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Actor of the creation (see `actorOf`). */
  readonly createdBy: string;
  readonly updatedBy: string;
  /** Incremented with every change; a change based on an older version is rejected with `stale_record`. */
  readonly recordVersion: number;
  readonly deletedAt: Date | null;
  readonly deletedBy: string | null;
}

/** The fields that every kind has; an entity file cannot declare them. */
export const recordFieldNames = [
  'id',
  'createdAt',
  'updatedAt',
  'createdBy',
  'updatedBy',
  'recordVersion',
  'deletedAt',
  'deletedBy',
] as const satisfies readonly (keyof RecordFields)[];
