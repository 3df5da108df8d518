/** A price with a name: spot, a wall, the flip. */
export interface Level {
  readonly name: string;
  readonly price: number;
}
