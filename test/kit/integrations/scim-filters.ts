import fc from 'fast-check';
import { scimSchemas } from './scim-client.ts';
import { lower, type ScimDocument, type ScimModel } from './scim-model.ts';
import { idsAt } from './scim-group-operations.ts';
import { emails, names, words, type Email } from './scim-user-operations.ts';

/** A filter, and whether it finds a resource as it is answered; without that it is refused. */
export interface ModelFilter {
  readonly text: string;
  readonly finds: ((document: ScimDocument) => boolean) | undefined;
}

export type FilterOf = (model: ScimModel) => ModelFilter;

const quoted = (value: string) => JSON.stringify(value);
const isEqual = (value: unknown, other: string) => value !== undefined && lower(value) === lower(other);
const partOf = (document: ScimDocument, name: string, part: string) =>
  (document[name] as ScimDocument | undefined)?.[part];
const emailsOf = (document: ScimDocument) => (document['emails'] ?? []) as readonly Email[];
const referencesOf = (document: ScimDocument, name: string) => (document[name] ?? []) as readonly ScimDocument[];

/** Filters of one comparison. @param of makes them from a word */
function comparisons(
  of: (word: string) => readonly ModelFilter[],
  word: fc.Arbitrary<string> = words,
): fc.Arbitrary<ModelFilter> {
  return fc.tuple(word, fc.nat(30)).map(([text, index]) => {
    const all = of(text);
    return all[index % all.length]!;
  });
}

const ofNames = comparisons(
  (name) => [
    { text: `userName eq ${quoted(name)}`, finds: ({ userName }) => isEqual(userName, name) },
    { text: `USERNAME EQ ${quoted(name)}`, finds: ({ userName }) => isEqual(userName, name) },
    { text: `${scimSchemas.user}:userName eq ${quoted(name)}`, finds: ({ userName }) => isEqual(userName, name) },
    { text: `userName ne ${quoted(name)}`, finds: ({ userName }) => !isEqual(userName, name) },
    {
      text: `userName sw ${quoted(name[0]!)}`,
      finds: ({ userName }) => lower(userName).startsWith(lower(name[0])),
    },
    { text: `not (userName co "n")`, finds: ({ userName }) => !lower(userName).includes('n') },
  ],
  names,
);

const ofWords = comparisons((word) => [
  { text: `title eq ${quoted(word)}`, finds: ({ title }) => isEqual(title, word) },
  { text: `externalId eq ${quoted(word)}`, finds: ({ externalId }) => externalId === word },
  { text: 'title pr', finds: ({ title }) => title !== undefined },
  { text: 'not (title pr)', finds: ({ title }) => title === undefined },
  { text: 'title eq null', finds: ({ title }) => title === undefined },
  { text: `title ne ${quoted(word)}`, finds: ({ title }) => !isEqual(title, word) },
  { text: `externalId eq ${quoted(word)} and userName pr`, finds: ({ externalId }) => externalId === word },
  { text: 'active eq "True"', finds: ({ active }) => active === true },
  { text: 'active eq true', finds: ({ active }) => active === true },
  { text: 'active eq false', finds: ({ active }) => active === false },
  { text: `name.familyName eq ${quoted(word)}`, finds: (user) => isEqual(partOf(user, 'name', 'familyName'), word) },
  {
    text: `${scimSchemas.enterprise}:department eq ${quoted(word)}`,
    finds: (user) => isEqual(partOf(user, scimSchemas.enterprise, 'department'), word),
  },
]);

const ofEmails = emails.map(([first]): ModelFilter => {
  const { type, value } = first ?? { type: 'work', value: 'a@x.org' };
  const text = `emails[type eq ${quoted(type)} and value eq ${quoted(value)}]`;
  return { text, finds: (user) => emailsOf(user).some((one) => one.type === type && one.value === value) };
});

const ofEmailParts = emails.map(([first]): ModelFilter => {
  const { type, value } = first ?? { type: 'work', value: 'a@x.org' };
  const text = `emails[type eq ${quoted(type)}].value eq ${quoted(value)}`;
  return { text, finds: (user) => emailsOf(user).some((one) => one.type === type && one.value === value) };
});

const ofEmailValues = emails.map(([first]): ModelFilter => {
  const value = first?.value ?? 'b@x.org';
  const text = `emails co ${quoted(value)}`;
  return { text, finds: (user) => emailsOf(user).some((one) => one.value === value) };
});

const joined = fc.tuple(ofNames, ofWords, ofWords, fc.nat(2)).map(([one, two, three, form]): ModelFilter => {
  const [a, b, c] = [one, two, three].map(({ finds }) => finds!) as [Finds, Finds, Finds];
  const texts = [one, two, three].map(({ text }) => text);
  if (form === 0) return { text: texts.join(' and '), finds: (user) => a(user) && b(user) && c(user) };
  if (form === 1)
    return { text: `${texts[0]} or ${texts[1]} and ${texts[2]}`, finds: (user) => a(user) || (b(user) && c(user)) };
  return {
    text: `(${texts[0]} or ${texts[1]}) and ${texts[2]}`,
    finds: (user) => (a(user) || b(user)) && c(user),
  };
});
type Finds = (document: ScimDocument) => boolean;

const wrong = fc
  .constantFrom(
    'shoeSize eq 1',
    'userName eq',
    'userName like "x"',
    'name eq "x"',
    'userName eq "a" and',
    ')(',
    'active gt true',
  )
  .map((text): ModelFilter => ({ text, finds: undefined }));

const always =
  (filter: ModelFilter): FilterOf =>
  () =>
    filter;

export const userFilter: fc.Arbitrary<FilterOf> = fc.oneof(
  { weight: 4, arbitrary: ofNames.map(always) },
  { weight: 4, arbitrary: ofWords.map(always) },
  { weight: 2, arbitrary: ofEmails.map(always) },
  { weight: 1, arbitrary: ofEmailParts.map(always) },
  { weight: 1, arbitrary: ofEmailValues.map(always) },
  { weight: 3, arbitrary: joined.map(always) },
  { weight: 1, arbitrary: wrong.map(always) },
);

const ofGroupNames = comparisons((word) => [
  { text: `displayName eq ${quoted(word)}`, finds: ({ displayName }) => isEqual(displayName, word) },
  { text: `externalId eq ${quoted(word)}`, finds: ({ externalId }) => externalId === word },
  { text: 'members pr', finds: ({ members }) => members !== undefined },
]);

const ofMembers = fc.tuple(fc.nat(20), fc.nat(2)).map(([at, form]): FilterOf => (model) => {
  const [id = 'nobody'] = idsAt(model, [at]);
  const comparison = ['members eq', 'members.value eq', 'members[value eq'][form]!;
  return {
    text: `${comparison} "${id}"${form === 2 ? ']' : ''}`,
    finds: (group) => referencesOf(group, 'members').some(({ value }) => value === id),
  };
});

export const groupFilter: fc.Arbitrary<FilterOf> = fc.oneof(
  { weight: 3, arbitrary: ofGroupNames.map(always) },
  { weight: 3, arbitrary: ofMembers },
  { weight: 1, arbitrary: wrong.filter(({ text }) => !text.startsWith('name eq')).map(always) },
);
