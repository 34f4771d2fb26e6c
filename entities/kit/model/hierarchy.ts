/**
 * Most levels of a hierarchy, the first and the last included. Records are not put deeper, so questions to the authorization
 * store, which goes to 25, need not follow rights further up.
 */
export const maxHierarchyDepth = 20;
