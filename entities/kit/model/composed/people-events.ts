import { Type } from 'typebox';
import { payload } from '../events.ts';

/** The custom event of a kind with texts that mention people (`mentions`): a change of a record mentioned somebody for the first time. */
export const mentioned = {
  description: 'A text of the record mentions further people.',
  payload: payload({
    userIds: Type.Array(Type.String(), { description: 'Ids of the people who are newly mentioned.' }),
  }),
};

/** The custom event of a kind with a person who is in charge of a record (`announces`). */
export const assigned = {
  description: 'Somebody was put in charge of the record.',
  payload: payload({ userId: Type.String({ description: 'Id of the person.' }) }),
};
