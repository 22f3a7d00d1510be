/// What makes the type that stores it be passed by its address.
///
/// The compiler hands a large value of a loadable type to a method that only reads it as a copy of
/// all its bytes, even a noncopyable one. A tree of state machines is kilobytes large, and each
/// event reads it some hundred times. A type that stores an existential is not loadable: its
/// methods get the address of the place where it is.
///
/// For values of which one exists. A copy of such a value copies each part by itself.
package struct PassedByAddress: Sendable {
    private let existential: any Sendable = ()

    package init() {}
}
