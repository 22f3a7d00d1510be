import Bootstrap
import ImageModel
import Messages
import Sodium

/// Whether a hello shows what its door asks for. Where each kind is a user of its own no door asks:
/// file modes keep the others out. Under a `serve` that runs all kinds as one user they do not.
struct Doorkeeper {
    private let secrets: DoorSecrets?

    /// Takes what the supervisor gave; nil: no door asks. Throws for anything else than the secrets
    /// of all doors, since a door that should ask and does not would be open.
    init(inherited bytes: [UInt8]?) throws(ConfigurationError) {
        secrets = bytes.flatMap(DoorSecrets.init)
        guard let bytes, secrets == nil else { return }
        throw ConfigurationError(
            "the secrets of the doors have \(bytes.count) bytes, not \(DoorSecrets.byteCount): "
                + "start serve and the coordinator of one release")
    }

    /// nil where it may come in.
    func refusal(of shown: DoorSecret?, at door: Door) -> ImageError? {
        guard let wanted = wanted(at: door) else { return nil }
        if let shown, ConstantTime.areEqual(shown.bytes, wanted.bytes) { return nil }
        return ImageError(.addressForbidden, Self.advice(door))
    }

    private func wanted(at door: Door) -> DoorSecret? {
        switch door {
        case .front: nil
        case .admin: secrets?.admin
        case .back(let kind): secrets?.workers[kind]
        }
    }

    private static func advice(_ door: Door) -> String {
        switch door {
        case .front, .admin:
            "a hello at admin/ needs the bytes of admin/secret: connect as the user of the stack"
        case .back(let kind):
            "this stack starts its \(kind.name) workers itself: start the coordinator with "
                + "'serve --only coordinator' to add workers of your own"
        }
    }
}
