/**
 * Capabilities that do not exist yet, each with the fields that will belong to it. A path stands for everything below it. These
 * fields are read and checked, but have no effect: the start warns about each that is set, and what is printed says so.
 * Remove a path here when its field gets an effect.
 */
const pending: Readonly<Record<string, readonly string[]>> = {
  'trust centers': [
    'server.defaulttrustcenterdomain',
    'server.trustcentercnametarget',
    'server.trustcenterpreviewzoneid',
    'auth.token.trustcenterndarequestaccessduration',
  ],
  summaries: ['ormconfig.summarizer'],
  questionnaires: [
    'ormconfig.questionnaireproducturl',
    'auth.token.assessmentaccessduration',
    'integrations.email.questionnaireemail',
  ],
  integrations: [
    'integrations.cloudsecurityhub',
    'integrations.edgeruntime',
    'integrations.clouddrive',
    'integrations.personaldrive',
  ],
  snapshots: ['edge'],
  shortlinks: ['shortlinks'],
};

const capabilities: ReadonlyMap<string, string> = new Map(
  Object.entries(pending).flatMap(([capability, paths]) => paths.map((path) => [path, capability] as const)),
);

/** The paths as they are listed, each once. */
export const pendingPaths: readonly string[] = [...capabilities.keys()];

/** The capability that will give the field an effect; undefined if it has one already. @param path of a leaf, an item of one, or an object */
export function pendingCapability(path: string): string | undefined {
  const parts = path.replaceAll('[]', '').split('.');
  const listed = parts
    .map((_, index) => parts.slice(0, index + 1).join('.'))
    .find((prefix) => capabilities.has(prefix));
  return listed === undefined ? undefined : capabilities.get(listed);
}

/** Says that a field has no effect yet, as a sentence before its description; empty for fields with an effect. */
export function pendingRemark(path: string): string {
  const capability = pendingCapability(path);
  return capability === undefined ? '' : `Has no effect yet (${capability}). `;
}
