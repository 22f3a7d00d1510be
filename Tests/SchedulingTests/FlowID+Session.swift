import Model

@testable import Coordinator

extension FlowID {
    /// The flow of a session with a share of its own.
    static func session(_ client: ClientID) -> FlowID {
        .client(Session(client: client, owner: .session(client)))
    }
}
