/** The commit that a binary was built from. The build replaces the name by the commit. A program that runs from source has no commit. */
export const COMMIT: string = process.env.ZOMMA_BUILD_COMMIT ?? 'source';
