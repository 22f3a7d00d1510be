import CMessages
import Messages

// Messages of one number or of none, which have no type in `Messages`.

/// A worker takes so many jobs more.
struct CreditGrant: WireMessage {
    var jobs: UInt32

    typealias Form = Imagebus__V1__Credit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__credit__init }
    static var blank: Self { Self(jobs: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&jobs, &wire.pointee.jobs, "Credit.jobs")
    }
}

/// The processes of a kind, or of one pool of it, are to end.
struct DrainOrder: WireMessage {
    var kind: WorkerKind
    var pool: PoolName?

    typealias Form = Imagebus__V1__DrainCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__drain_command__init }
    static var blank: Self { Self(kind: .coordinator) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "DrainCommand.kind")
        try map.formed(&pool, &wire.pointee.pool, "DrainCommand.pool")
    }
}

/// So many processes are to end.
struct DrainAnswer: WireMessage {
    var processes: UInt32

    typealias Form = Imagebus__V1__DrainReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__drain_report__init }
    static var blank: Self { Self(processes: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&processes, &wire.pointee.processes, "DrainReport.processes")
    }
}

/// The peer has to introduce itself.
struct HelloRequiredMessage: WireMessage {
    typealias Form = Imagebus__V1__HelloRequired
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__hello_required__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}

/// The worker is to end.
struct DrainMessage: WireMessage {
    typealias Form = Imagebus__V1__Drain
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__drain__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}

/// A report is wanted.
struct StatusMessage: WireMessage {
    typealias Form = Imagebus__V1__Status
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}
