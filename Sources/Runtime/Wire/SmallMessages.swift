import CMessages
import Messages

// Messages of one number or of none, which have no type in `Messages`.

/// A worker takes so many jobs more.
struct CreditGrant: WireMessage {
    var jobs: UInt32

    static var begin: (CPart<Imagebus__V1__Credit>?) -> Void { imagebus__v1__credit__init }
    static var blank: Self { Self(jobs: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Credit>
    ) throws(WireError) {
        try map.number(&value.jobs, &wire.pointee.jobs, "Credit.jobs")
    }
}

/// The processes of a kind are to end.
struct DrainOrder: WireMessage {
    var kind: WorkerKind

    static var begin: (CPart<Imagebus__V1__DrainCommand>?) -> Void {
        imagebus__v1__drain_command__init
    }
    static var blank: Self { Self(kind: .coordinator) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__DrainCommand>
    ) throws(WireError) {
        try map.word(&value.kind, &wire.pointee.kind, "DrainCommand.kind")
    }
}

/// So many processes are to end.
struct DrainAnswer: WireMessage {
    var processes: UInt32

    static var begin: (CPart<Imagebus__V1__DrainReport>?) -> Void {
        imagebus__v1__drain_report__init
    }
    static var blank: Self { Self(processes: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__DrainReport>
    ) throws(WireError) {
        try map.number(&value.processes, &wire.pointee.processes, "DrainReport.processes")
    }
}

/// The peer has to introduce itself.
struct HelloRequiredMessage: WireMessage {
    static var begin: (CPart<Imagebus__V1__HelloRequired>?) -> Void {
        imagebus__v1__hello_required__init
    }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__HelloRequired>
    ) {}
}

/// The worker is to end.
struct DrainMessage: WireMessage {
    static var begin: (CPart<Imagebus__V1__Drain>?) -> Void { imagebus__v1__drain__init }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Drain>
    ) {}
}

/// A report is wanted.
struct StatusMessage: WireMessage {
    static var begin: (CPart<Imagebus__V1__Status>?) -> Void { imagebus__v1__status__init }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Status>
    ) {}
}
