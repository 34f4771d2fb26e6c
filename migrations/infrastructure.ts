/** Tables that belong to no kind (history, events, tuples, …). Their SQL is written by hand in the migrations. */
export const infrastructureTables = [
  /^migrations$/,
  /^history/,
  /^events/,
  /^event_deliveries/,
  /^desired_tuples$/,
  /^authorization_revisions$/,
  /^installation$/,
  /^record_kinds$/,
  /^sign_in_failures$/,
] as const;
