/*
 * What runs the library: an engine. There are two, Heap (heap.js), an instance of the WebAssembly
 * module, and Native (native/engine.js), the addon. Both call the functions of src/functions.h. An engine has
 *
 *   open()                   the handle of a new context; throws an AttnError
 *   has(name)                is there that function?
 *   call(name, ...args)      calls a function that returns a number
 *   make(name, ...args)      one that returns a handle: 0 or null when it failed
 *   text(name, ...args)      one that returns a text
 *   describe(name, ...args)  one that returns a text to be freed: null when it failed
 *   start(session, plan, list, signal)
 *                            attnjs_run beside this thread, where the engine can: the degenerate
 *                            rows, or a promise of them; -1 when it failed
 *   room(type, length, elements)
 *                            a Tensor's, zeros or a copy of elements: {engine, view, free}
 *   blocking                 does start() compute in this thread?
 *   lend(beside)             a loan; `beside`: for a start()
 *
 * and a loan, which makes arguments of arrays that last until its end():
 *
 *   hold(array)              to be called with each array before the first becomes an argument:
 *                            it may lie in memory that moves meanwhile
 *   input(array, what, length)
 *                            an array to read, of which so many elements count (all); a list of
 *                            numbers becomes doubles
 *   list(values)             arguments and numbers in one
 *   output(type, length, what, array, gaps)
 *                            {at, take}: room for a result, and take() is it: `array`, of which
 *                            what is in gaps stays, or a new one
 */
export const INTERFACE = 8; // src/bindings.h
