package import Messages
package import MicroHTTPD

/// What answers on a listener of its own beside that of images. One thread, that of its loop.
package protocol SideFront: EventedHandler {
    /// Readable when the stack has answered.
    var descriptor: Int32 { get }
    /// When `look` is due at the latest; `nil`: never.
    var nextLook: Instant? { get }
    /// Takes what the stack has answered.
    func takeAnswers()
    /// Answers whoever has waited too long for the stack.
    func look(at now: Instant)
}

/// A listener beside that of images.
package final class SideListener {
    let front: any SideFront
    let server: EventedHTTPServer

    /// Takes over both.
    package init(_ front: any SideFront, _ server: consuming EventedHTTPServer) {
        self.front = front
        self.server = server
    }
}
