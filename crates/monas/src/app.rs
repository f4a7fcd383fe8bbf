//! A program of one's own: an agent made of skills, with everything around it that `monas` has.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use agent::{Agent, Hook, Options};
use dial::Dialer;
use model::Model;
use skill::{DefinitionError, Manifest, Registry, Skill};

use crate::config::Config;
use crate::error::Error;
use crate::program;
use crate::serve::agents::{self, Agents};
use crate::serve::compose::Server;
use crate::serve::{models, tools};
use crate::testkit::Kit;

/// An app without skills. Add some and run it:
///
/// ```no_run
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// # use skill::{SkillError, SkillInput, skill};
/// #[derive(Deserialize, JsonSchema, SkillInput)]
/// struct City {
///     name: String,
/// }
///
/// /// Tells the weather of a city.
/// #[skill(tags = ["weather"], examples = ["What is the weather in Riga?"])]
/// async fn weather(city: City) -> Result<String, SkillError> {
///     Ok(format!("It rains in {}.", city.name))
/// }
///
/// fn main() -> std::process::ExitCode {
///     monas::app().skill(weather).run()
/// }
/// ```
pub fn app() -> App {
    App {
        manifest: None,
        options: Options::default(),
        answerer: None,
        lives: false,
        faulty: None,
    }
}

/// What an agent is for of which nothing else is said.
const OBJECTIVE: &str = "be of help to whoever asks, and remember what matters to them";

/// Makes what answers in words for an agent of this manifest.
type Answering = fn(&Manifest) -> Arc<dyn a2a::server::Agent>;

/// An agent to be, and the program around it.
#[derive(Debug)]
pub struct App {
    manifest: Option<Manifest>,
    options: Options,
    /// Who answers what names no skill, made for the manifest.
    answerer: Option<Answering>,
    lives: bool,
    /// What is wrong with its skills; said when it is started.
    faulty: Option<DefinitionError>,
}

impl App {
    /// What the agent is, unless the configuration names a manifest.
    pub fn manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = Some(manifest);
        self
    }

    /// With this skill.
    pub fn skill<S: Skill>(self, skill: S) -> Self {
        self.change(|skills| skills.with(skill))
    }

    /// With all of these skills.
    pub fn skills(self, more: &Registry) -> Self {
        self.change(|skills| skills.merge(more))
    }

    /// With something that sees every call pass.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.options.hooks.push(hook);
        self
    }

    /// With somebody who answers what names no skill.
    pub fn answerer(mut self, answerer: Arc<dyn a2a::server::Agent>) -> Self {
        self.options.answerer = Some(answerer);
        self
    }

    /// The same, made once it is known what the agent is: what its manifest takes away is not done in words, either.
    pub fn answerer_of(mut self, make: fn(&Manifest) -> Arc<dyn a2a::server::Agent>) -> Self {
        self.answerer = Some(make);
        self
    }

    /// With this language model, instead of the one that is configured.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.options.model = Some(model);
        self
    }

    /// With a life of its own: it remembers, plans with a model or by rules, has a law, asks before it acts, and can
    /// say why it did something. Its skills are joined by those of files, memory and other agents.
    pub fn alive(mut self) -> Self {
        self.lives = true;
        self
    }

    /// Does what the command line asks for, as `monas` does; without a command it serves the agent.
    pub fn run(self) -> ExitCode {
        program::main(self)
    }

    /// Serves it from this process, on a free port and with nothing kept on disk, until it is told to stop: for
    /// tests, and for programs that call what they serve.
    pub async fn start(self) -> Result<Kit, Error> {
        self.start_with(&Kit::config()).await
    }

    /// The same with a configuration of one's own.
    pub async fn start_with(self, config: &Config) -> Result<Kit, Error> {
        Ok(Kit::of(Server::start_app(config, self).await?))
    }

    /// The agent, as the configuration wants it, with the tools of the servers it uses.
    pub async fn agent(self, config: &Config) -> Result<Agent, Error> {
        let first = self.plans(config)?.swap_remove(0);
        first.with_tools().await?.make()
    }

    /// The agents: that one, and those of the configuration's folder, which have the same skills to choose from.
    pub async fn agents(self, config: &Config) -> Result<Agents, Error> {
        let mut plans = self.plans(config)?.into_iter();
        let first = plans.next().expect("there is always one at the root");
        let mut agents = Agents::from(first.with_tools().await?.make()?);
        for plan in plans {
            let id = plan.id.clone().unwrap_or_default();
            agents = agents.with(&id, plan.with_tools().await?.make()?)?;
        }
        Ok(agents)
    }

    /// What agents there are to be, the one at the root first.
    pub(crate) fn plans(self, config: &Config) -> Result<Vec<Plan>, Error> {
        if let Some(fault) = self.faulty {
            return Err(agent::CreateError::from(fault).into());
        }
        let dialer = config.outbound.dialer()?;
        let mut options = self.options;
        if options.model.is_none() {
            options.model = models::model(&config.models, &dialer)?;
        }
        let manifest = match (&config.manifest, self.manifest) {
            (Some(path), _) => agents::manifest(path)?,
            (None, Some(manifest)) => manifest,
            (None, None) => {
                let mut manifest = Manifest::new(config.agent.name.clone());
                manifest.description.clone_from(&config.agent.description);
                env!("CARGO_PKG_VERSION").clone_into(&mut manifest.version);
                manifest.objectives = vec![OBJECTIVE.to_owned()];
                manifest
            }
        };
        let answering = |manifest: &Manifest| {
            let mut options = options.clone();
            if let Some(make) = self.answerer {
                options.answerer = Some(make(manifest));
            }
            options
        };
        let place = config.manifest.clone();
        let mut plans = vec![Plan {
            id: None,
            place: place.unwrap_or_else(|| "the manifest".into()),
            options: answering(&manifest),
            manifest,
            more: config.mcp_config.clone(),
            dialer: dialer.clone(),
        }];
        let folder = config.agents.as_deref().map(agents::read).transpose()?;
        for (id, place, manifest) in folder.into_iter().flatten() {
            plans.push(Plan {
                id: Some(id),
                place,
                options: answering(&manifest),
                manifest,
                more: None,
                dialer: dialer.clone(),
            });
        }
        Ok(plans)
    }

    /// Whether its agents live: they remember, have a law and ask before they act.
    pub(crate) fn lives(&self) -> bool {
        self.lives
    }

    fn change(
        mut self,
        change: impl FnOnce(Registry) -> Result<Registry, DefinitionError>,
    ) -> Self {
        // The first fault is told; what follows from it is not.
        match change(std::mem::take(&mut self.options.skills)) {
            Ok(skills) => self.options.skills = skills,
            Err(fault) => self.faulty = self.faulty.or(Some(fault)),
        }
        self
    }
}

/// An agent to be.
pub(crate) struct Plan {
    /// What it is known by; none is the one at the root.
    pub(crate) id: Option<String>,
    /// Where its manifest is.
    pub(crate) place: PathBuf,
    pub(crate) manifest: Manifest,
    /// A file of another host with more servers of tools.
    more: Option<PathBuf>,
    /// Makes the connections to its tool servers.
    dialer: Dialer,
    pub(crate) options: Options,
}

impl Plan {
    /// The same, with the tools of the servers that its manifest names.
    pub(crate) async fn with_tools(mut self) -> Result<Self, Error> {
        let variable = |name: &str| std::env::var(name).ok();
        let more = self.more.as_deref();
        tools::add(
            &self.place,
            &self.manifest,
            more,
            &mut self.options,
            &self.dialer,
            &variable,
        )
        .await?;
        Ok(self)
    }

    /// The agent.
    pub(crate) fn make(self) -> Result<Agent, Error> {
        Ok(Agent::create(self.manifest, self.options)?)
    }
}
