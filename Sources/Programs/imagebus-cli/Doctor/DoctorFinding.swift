/// What `imagebus doctor` found of one thing.
struct DoctorFinding: Encodable, Hashable {
    /// How it is.
    enum State: String, Encodable {
        case ok
        /// It works, with less than it could.
        case short
        /// Something does not work.
        case missing
    }

    /// One word or two.
    let name: String
    let state: State
    /// What was found, and what follows from it.
    let says: String
    /// What to type, or to set; nil where all is well.
    let mend: String?

    static func ok(_ name: String, _ says: String) -> DoctorFinding {
        DoctorFinding(name: name, state: .ok, says: says, mend: nil)
    }

    static func short(_ name: String, _ says: String, mend: String) -> DoctorFinding {
        DoctorFinding(name: name, state: .short, says: says, mend: mend)
    }

    static func missing(_ name: String, _ says: String, mend: String) -> DoctorFinding {
        DoctorFinding(name: name, state: .missing, says: says, mend: mend)
    }
}
